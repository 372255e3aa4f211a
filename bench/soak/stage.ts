import type { Tally } from "./tally.ts";

/** The parameters of the clients of the soak. */
export type Stage = {
  /** The address of the gateway. */
  readonly host: string;
  /** The port of the gateway for HTTP without TLS. */
  readonly port: number;
  readonly tally: Tally;
  /** Aborted at the end of the soak. */
  readonly signal: AbortSignal;
};

/** Waits, but not beyond the end of the soak. Resolves with false if the soak has ended. */
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

/** Jitters a wait to between half and one and a half times its length, so that clients do not act in lockstep. */
export const around = (ms: number): number => ms * (0.5 + Math.random());

/** The text of an error, which is equal for equal causes. */
export const wordsOf = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
