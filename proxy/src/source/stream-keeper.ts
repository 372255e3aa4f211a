import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { backoffMs, type Backoff } from "@svc-gateway/common/time/backoff.ts";
import { sleep, type Clock } from "@svc-gateway/common/time/clock.ts";
import { formatEndpoint, type Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { reconnecting, reconnectingWhileServing } from "./backoff.ts";
import type { ControllerStream } from "./controller-stream.ts";
import type { IdentityKeeper } from "./identity-keeper.ts";
import type { DiscoveryClientMetrics } from "./discovery-client-metrics.ts";
import type { ProxyIdentity } from "./proxy-identity.ts";
import { createStreamOpener, type OpenResult, type StreamOpenerOptions } from "./stream-opener.ts";

export type StreamKeeperOptions = StreamOpenerOptions & {
  readonly identity: IdentityKeeper;
  /** Whether an earlier snapshot is served, which shortens the reconnect delay. */
  readonly isServing: () => boolean;
  /** Called with the stream that replaces the previous one, which is closed after the call. */
  readonly onStream: (stream: ControllerStream) => void;
  /** Called when the last stream has ended without a successor. */
  readonly onLost: () => void;
  /** Schedules the next round of attempts. */
  readonly scheduleRetry: Clock["schedule"];
  readonly metrics: DiscoveryClientMetrics;
  readonly log: Logger;
};

/** Keeps one stream to a controller open. */
export type StreamKeeper = {
  start(): void;
  stop(): Promise<void>;
};

const leaderSearchIntervalMs = 2_000;
const moveRetryMs = 5_000;
/**
 * How long a successor may take after the old stream has ended. The controller ends the old stream when the new one
 * subscribes; the first message of the new one is then under way.
 */
const successorGraceMs = 2_000;
/** The minimum duration of a healthy stream. After consecutive shorter ones, reconnects are delayed. */
const healthyStreamMs = 10_000;
const restartMs = 5_000;
/** The number of consecutive failed rounds after which a new certificate is requested. */
const suspiciousRounds = 3;

/**
 * Connects to any replica, then moves to the leader. For a new certificate, it opens a new stream before it closes the
 * old one. When a stream ends, it connects to another replica immediately. See docs/discovery.md, "Reconnecting".
 */
export function createStreamKeeper(options: StreamKeeperOptions): StreamKeeper {
  const { identity, isServing, onStream, onLost, scheduleRetry, metrics, log, clock, random } = options;
  const opener = createStreamOpener(options);
  const abort = new AbortController();
  const { signal } = abort;
  let active: ControllerStream | undefined;
  let hasConnected = false;
  let shortStreams = 0;
  let running: Promise<void> = Promise.resolve();

  const usableIdentity = (): Promise<ProxyIdentity | undefined> => {
    const current = identity.current();
    if (current !== undefined || signal.aborted) return Promise.resolve(current);
    return new Promise((resolve) => {
      const settle = (next?: ProxyIdentity): void => {
        unsubscribe();
        signal.removeEventListener("abort", onAbort);
        resolve(next);
      };
      const onAbort = (): void => settle();
      const unsubscribe = identity.subscribe(settle);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  };

  /**
   * Tries all replicas, round after round, until one is connected. Returns undefined when stopped, or when a round
   * fails and a replica uses another wire version.
   */
  const connect = async (last: Endpoint | undefined): Promise<ControllerStream | undefined> => {
    const backoff = (): Backoff => (isServing() ? reconnectingWhileServing : reconnecting);
    let delayMs = shortStreams > 1 ? backoffMs(backoff(), shortStreams - 1, random) : 0;
    for (let failures = 1; ; failures += 1) {
      if (delayMs > 0 && !(await sleep({ schedule: scheduleRetry }, delayMs, signal))) return undefined;
      const shown = await usableIdentity();
      if (shown === undefined) return undefined;
      if (hasConnected) metrics.reconnects.with({}).inc();
      hasConnected = true;
      const opened = await opener.openAny(shown, last, signal);
      if (signal.aborted) {
        if (opened.ok) opened.value.close();
        return undefined;
      }
      if (opened.ok) return opened.value;
      const rejection = opened.error.find(({ kind }) => kind === "rejected");
      if (rejection !== undefined) {
        log.error(
          { reason: rejection.message },
          "wire version rejected; this proxy does not reconnect until it is restarted",
        );
        identity.stop();
        return undefined;
      }
      if (failures >= suspiciousRounds) identity.renewSoon();
      delayMs = opened.error.some(({ kind }) => kind === "unavailable")
        ? 250 + random() * 250
        : backoffMs(backoff(), failures, random);
      const reasons = opened.error.map(({ message }) => message).slice(0, 4);
      log.warn({ reasons, retry_in_ms: Math.round(delayMs) }, "no controller can be reached");
    }
  };

  /** Keeps a stream and its successors until one ends without a successor; returns that one. */
  const keep = async (first: ControllerStream): Promise<ControllerStream> => {
    let stream = first;
    let nextMoveMs = 0;
    let nextSearchMs = clock.nowMs() + leaderSearchIntervalMs;
    for (;;) {
      const task = await nextTask(stream, nextMoveMs, nextSearchMs);
      if (task === "ended") return stream;
      const successor = await (task === "move" ? move(stream) : findLeader(stream));
      if (task === "move") nextMoveMs = clock.nowMs() + moveRetryMs;
      else nextSearchMs = clock.nowMs() + leaderSearchIntervalMs;
      if (successor === undefined) continue;
      adopt(successor, task === "move" ? "new certificate" : "leader found");
      stream.close();
      stream = successor;
    }
  };

  const adopt = (stream: ControllerStream, why: string): void => {
    active = stream;
    log.info(
      { address: formatEndpoint(stream.address), leading: stream.isLeading(), why },
      "connected to a controller",
    );
    onStream(stream);
  };

  /** Resolves when the stream has ended, or when a move to a new certificate or a search for the leader is due. */
  const nextTask = (
    stream: ControllerStream,
    nextMoveMs: number,
    nextSearchMs: number,
  ): Promise<"ended" | "move" | "search"> =>
    new Promise((resolve) => {
      let cancelTimer = (): void => {};
      const settle = (task: "ended" | "move" | "search"): void => {
        unsubscribe();
        unwatch();
        resolve(task);
      };
      const check = (): void => {
        cancelTimer();
        if (stream.end() !== undefined) return settle("ended");
        const shown = identity.current();
        const moveMs = shown === undefined || shown === stream.identity ? Infinity : nextMoveMs;
        const searchMs = stream.isLeading() ? Infinity : nextSearchMs;
        const waitMs = Math.min(moveMs, searchMs) - clock.nowMs();
        if (waitMs <= 0) return settle(moveMs <= searchMs ? "move" : "search");
        if (waitMs < Infinity) cancelTimer = clock.schedule(waitMs, check);
      };
      const unsubscribe = identity.subscribe(check);
      const unwatch = stream.watch(check);
      check();
    });

  const move = (stream: ControllerStream): Promise<ControllerStream | undefined> =>
    whileOpen(stream, successorGraceMs, (attempt) =>
      opener.openAt(identity.current() ?? stream.identity, stream.address, attempt),
    );

  const findLeader = (stream: ControllerStream): Promise<ControllerStream | undefined> =>
    whileOpen(stream, 0, (attempt) => opener.openLeader(stream.identity, stream.address, attempt));

  /** Opens a successor; gives up when a grace period has passed since the end of the stream. */
  const whileOpen = async (
    stream: ControllerStream,
    graceMs: number,
    open: (signal: AbortSignal) => Promise<OpenResult>,
  ): Promise<ControllerStream | undefined> => {
    const attempt = new AbortController();
    let cancelGrace = (): void => {};
    const giveUp = (): void => attempt.abort();
    const check = (): void => {
      if (stream.end() !== undefined) cancelGrace = clock.schedule(graceMs, giveUp);
    };
    const unwatch = stream.watch(check);
    signal.addEventListener("abort", giveUp, { once: true });
    check();
    const opened = await open(attempt.signal);
    unwatch();
    cancelGrace();
    signal.removeEventListener("abort", giveUp);
    if (!opened.ok) {
      log.debug({ reasons: opened.error.map(({ message }) => message) }, "no other stream yet");
      return undefined;
    }
    if (!signal.aborted) return opened.value;
    opened.value.close();
    return undefined;
  };

  const run = async (): Promise<void> => {
    let last: Endpoint | undefined;
    for (;;) {
      const first = await connect(last);
      if (first === undefined) return;
      const startedMs = clock.nowMs();
      adopt(first, last === undefined ? "first stream" : "the last stream has ended");
      const stream = await keep(first);
      active = undefined;
      onLost();
      if (signal.aborted) return;
      shortStreams = clock.nowMs() - startedMs < healthyStreamMs ? shortStreams + 1 : 0;
      last = stream.address;
      log.warn(
        { address: formatEndpoint(last), reason: stream.end()?.message },
        "stream to the controller ended",
      );
    }
  };

  /** Restarts after an exception: a bug must not cut a proxy off from its configuration permanently. */
  const supervise = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        return await run();
      } catch (error) {
        log.error({ error }, "internal error in the discovery client");
        active?.close();
        await sleep(clock, restartMs, signal);
      }
    }
  };

  return {
    start() {
      running = supervise();
    },
    stop() {
      abort.abort();
      active?.close();
      return running;
    },
  };
}
