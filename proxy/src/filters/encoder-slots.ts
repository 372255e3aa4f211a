/** How many responses may be compressed at the same time. */
export type EncoderSlots = {
  /** False when all are taken: the response has to go as it is, and is counted. */
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
