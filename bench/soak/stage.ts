import type { Tally } from "./tally.ts";

/** What clients of the soak need. */
export type Stage = {
  /** Address of the gateway. */
  readonly host: string;
  /** Its port for HTTP without TLS. */
  readonly port: number;
  readonly tally: Tally;
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
};

/** Waits, but not beyond the end of the soak. Resolves with false when that has come. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (goesOn: boolean) => (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(goesOn);
    };
    const timer = setTimeout(() => finish(true)(), ms);
    const onAbort = finish(false);
    signal.addEventListener("abort", onAbort);
  });
}

/** Jitters a wait between a half and one and a half of it, so that clients do not act in lockstep. */
export const around = (ms: number): number => ms * (0.5 + Math.random());

/** The text of an error, the same for the same cause. */
export const wordsOf = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
