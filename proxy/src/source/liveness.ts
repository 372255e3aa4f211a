import { AwakeTimer } from "../timing/awake-timer.ts";

/** How long a controller may be silent. */
export type LivenessLimits = {
  /** After so long without a message it is asked. */
  readonly pingMs: number;
  /** After so long it is left. */
  readonly silenceMs: number;
};

export const defaultLiveness: LivenessLimits = { pingMs: 5_000, silenceMs: 10_000 };

/** Schedules a callback; the returned function cancels it. */
export type After = (ms: number, callback: () => void) => () => void;

/** On the awake clock: a process that was paused must not take its own silence for that of a controller. */
export const afterAwake: After = (ms, callback) => {
  const timer = new AwakeTimer(callback, ms);
  return () => timer.clear();
};

/** Whether the controller at the other end of a stream lives. */
export type Liveness = {
  /** A message has come. */
  heard(): void;
  /** Nothing is read until `heard` is called: what is silent meanwhile is not the controller. */
  suspend(): void;
  stop(): void;
};

/**
 * Asks a controller that is silent whether it lives, and says when it has been silent for too long. The time begins with the
 * first message. See docs/discovery.md, "Reconnecting".
 */
export function createLiveness(options: {
  readonly limits: LivenessLimits;
  readonly after: After;
  readonly ping: () => void;
  readonly onSilent: () => void;
}): Liveness {
  const { limits, after, ping, onSilent } = options;
  let cancelPing = (): void => {};
  let cancelEnd = (): void => {};
  let isStopped = false;
  const suspend = (): void => {
    cancelPing();
    cancelEnd();
  };
  const ask = (): void => {
    ping();
    cancelPing = after(limits.pingMs, ask);
  };
  return {
    heard() {
      suspend();
      if (isStopped) return;
      cancelPing = after(limits.pingMs, ask);
      cancelEnd = after(limits.silenceMs, onSilent);
    },
    suspend,
    stop() {
      isStopped = true;
      suspend();
    },
  };
}
