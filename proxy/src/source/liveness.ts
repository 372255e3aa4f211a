import { AwakeTimer } from "../timing/awake-timer.ts";

/** The limits for the silence of a controller, in milliseconds. */
export type LivenessLimits = {
  /** The time without a message after which the controller is pinged, and the interval of further pings. */
  readonly pingMs: number;
  /** The time without a message after which the stream is closed. */
  readonly silenceMs: number;
};

export const defaultLiveness: LivenessLimits = { pingMs: 5_000, silenceMs: 10_000 };

/** Schedules a callback; the returned function cancels it. */
export type After = (ms: number, callback: () => void) => () => void;

/** Schedules by the awake clock: a paused process must not mistake its own pause for silence of the controller. */
export const afterAwake: After = (ms, callback) => {
  const timer = new AwakeTimer(callback, ms);
  return () => timer.clear();
};

/** Detects a controller that no longer responds. */
export type Liveness = {
  /** Restarts the limits: a message has arrived. */
  received(): void;
  /** Stops the limits while the proxy reads nothing, until `received` is called. */
  suspend(): void;
  stop(): void;
};

/**
 * Pings a silent controller, and reports one that has been silent for too long. The limits start with the first
 * message. See docs/discovery.md, "Reconnecting".
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
    received() {
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
