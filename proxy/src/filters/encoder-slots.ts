/** Bounds how many responses are compressed at the same time. */
export type EncoderSlots = {
  /** Takes a slot; false when all are taken: the response is sent uncompressed, and is counted. */
  take(): boolean;
  free(): void;
};

/** Bounds the memory of encoders, which is a few hundred kilobytes to 1.7 MB for each. */
export function createEncoderSlots(max: number, skipped: { inc(): void }): EncoderSlots {
  let taken = 0;
  return {
    take() {
      if (taken < max) {
        taken++;
        return true;
      }
      skipped.inc();
      return false;
    },
    free() {
      taken--;
    },
  };
}
