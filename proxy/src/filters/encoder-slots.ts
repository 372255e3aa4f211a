/** Bounds how many responses are compressed at the same time. */
export type EncoderSlots = {
  /** Takes a slot. Returns false when all are taken; the response is then sent uncompressed, and is counted. */
  take(): boolean;
  free(): void;
};

/** Bounds the memory of encoders, each of which takes from a few hundred kilobytes to 1.7 MB. */
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
