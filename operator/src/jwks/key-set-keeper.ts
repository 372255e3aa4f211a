import { isDeepStrictEqual } from "node:util";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { backoffMs } from "@svc-gateway/common/time/backoff.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import { readKeySet } from "../translate/credentials/key-set.ts";
import type { FetchedKeySet, FetchedKeySets } from "../translate/credentials/remote-key-sets.ts";
import { describeProblem } from "../translate/diagnostics/define-finding.ts";

/** Refreshes the key sets that the routes need (docs/features/auth-jwt.md, "Keys"). */
export type KeySetKeeper = {
  /** The present key sets; the same map while nothing changes. */
  readonly fetched: FetchedKeySets;
  /** Refreshes these URLs from now on, each at its interval in milliseconds, and drops all others. */
  want(urls: ReadonlyMap<string, number>): void;
  /** Stops fetching and drops all key sets. */
  stop(): void;
};

export type KeySetKeeperOptions = {
  readonly fetch: (url: string, signal: AbortSignal) => Promise<Result<unknown>>;
  /** Called when `fetched` has changed. */
  readonly onChange: () => void;
  /** Called after each fetch. */
  readonly onFetched?: (fetch: KeySetFetch) => void;
  /**
   * Called with the number of key sets whose last fetch failed, after each fetch and when a key set is no longer
   * needed.
   */
  readonly onFailing?: (count: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A fetch of a key set; `rejected` means that the response is not a key set. */
export type KeySetFetch = {
  readonly result: "ok" | "error" | "rejected";
  readonly durationMs: number;
};

const firstRetryMs = 5_000;
/** The largest number of concurrent fetches; others wait for their turn. */
const maxFetching = 8;

type Followed = { refreshMs: number; failures: number; cancel: () => void; readonly ending: AbortController };

export function createKeySetKeeper({
  fetch,
  onChange,
  onFetched,
  onFailing,
  clock,
  log,
}: KeySetKeeperOptions): KeySetKeeper {
  const followed = new Map<string, Followed>();
  const waiting = new Set<string>();
  let fetching = 0;
  let stopped = false;
  let fetched: FetchedKeySets = new Map();

  const note = (url: string, next: FetchedKeySet | undefined): void => {
    const known = fetched.get(url);
    if (isDeepStrictEqual(known, next)) return;
    // Equal keys keep their identity, so that nothing is computed again for them.
    const keys = isDeepStrictEqual(known?.keys, next?.keys) ? known?.keys : next?.keys;
    const changed = new Map(fetched);
    if (next === undefined) changed.delete(url);
    else changed.set(url, { ...next, keys });
    fetched = changed;
  };

  const reportFailing = (): void =>
    onFailing?.([...followed.values()].filter(({ failures }) => failures > 0).length);

  const take = (url: string, one: Followed, answer: Result<unknown>, startedAtMs: number): void => {
    const set = answer.ok ? readKeySet(answer.value) : answer;
    const before = fetched;
    if (set.ok) {
      if (!fetched.has(url) || one.failures > 0)
        log.info({ url, keys: set.value.keys.length }, "key set fetched");
      one.failures = 0;
      note(url, { ...set.value, problem: undefined });
    } else {
      one.failures++;
      const reason = describeProblem(set.error);
      const { keys, unusable = [] } = fetched.get(url) ?? {};
      note(url, { keys, unusable, problem: reason });
      log.warn({ url, reason, failures: one.failures }, "key set fetch failed");
    }
    onFetched?.({
      result: set.ok ? "ok" : answer.ok ? "rejected" : "error",
      durationMs: clock.nowMs() - startedAtMs,
    });
    reportFailing();
    const { failures, refreshMs } = one;
    const delayMs =
      failures === 0 ? refreshMs : backoffMs({ firstMs: firstRetryMs, maxMs: refreshMs }, failures);
    one.cancel = clock.schedule(delayMs, () => enqueue(url));
    if (fetched !== before) onChange();
  };

  const enqueue = (url: string): void => {
    waiting.add(url);
    next();
  };

  const next = (): void => {
    while (fetching < maxFetching) {
      const [url] = waiting;
      if (url === undefined) return;
      waiting.delete(url);
      const one = followed.get(url);
      if (one === undefined) continue;
      fetching++;
      const startedAtMs = clock.nowMs();
      void fetch(url, one.ending.signal)
        .catch((error: unknown) => problem(`internal error: ${String(error)}`))
        .then((answer) => {
          fetching--;
          if (followed.get(url) === one) take(url, one, answer, startedAtMs);
          next();
        });
    }
  };

  const drop = (url: string, one: Followed): void => {
    one.cancel();
    one.ending.abort();
    followed.delete(url);
    note(url, undefined);
    reportFailing();
  };

  return {
    get fetched() {
      return fetched;
    },
    want(urls) {
      if (stopped) return;
      for (const [url, one] of followed) if (!urls.has(url)) drop(url, one);
      for (const [url, refreshMs] of urls) {
        const one = followed.get(url);
        if (one !== undefined) {
          one.refreshMs = refreshMs;
          continue;
        }
        followed.set(url, { refreshMs, failures: 0, cancel: () => {}, ending: new AbortController() });
        enqueue(url);
      }
    },
    stop() {
      stopped = true;
      for (const [url, one] of followed) drop(url, one);
    },
  };
}
