import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { formatRef } from "../api/object.ts";
import { type ApiClient, type ApiError, describeApiError } from "../sources/kubernetes/api-client.ts";
import {
  eventKey,
  eventNamespace,
  eventObject,
  readSeries,
  seriesPatch,
  type EventSource,
  type ObjectEvent,
  type StoredEvent,
} from "./event-object.ts";
import { createWorkQueue } from "./work-queue.ts";

export type EventRecorder = {
  /**
   * Sets all Events that the present state requires: new ones are created, known ones count as repeats, and ended ones
   * can return.
   */
  sync(events: readonly ObjectEvent[]): void;
  /** Records one occurrence. */
  record(event: ObjectEvent): void;
  /** Resolves when no Event is waiting to be sent now. */
  idle(): Promise<void>;
};

export type EventRecorderOptions = {
  readonly client: ApiClient;
  readonly source: EventSource;
  readonly log: Logger;
  /** Ends the recorder; nothing is sent after it. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** The wall clock for written times. */
  readonly nowMs?: () => number;
  /** How many Events are remembered; additional ones are not sent. */
  readonly maxEvents?: number;
};

/** An Event with its state in the API server. */
type Entry = {
  readonly event: ObjectEvent;
  /** Whether the last `sync` included it. */
  isPresent: boolean;
  /** The number of occurrences according to the API server; 0 while that is unknown. */
  count: number;
  /** The number of occurrences that have not been sent. */
  unsent: number;
  /** The time at which it was last sent, on the monotonic clock. */
  sentAtMs: number;
  /** Whether it is queued, or will be at a known time. */
  isPlanned: boolean;
  cancelTimer: () => void;
};

/** The shortest interval between sent repeats. */
const repeatMs = 60_000;
/** The shortest time between two sends of an Event that ended and returned, which limits flickering. */
const returnMs = 5_000;
const defaultMaxEvents = 10_000;
/**
 * Statuses after which another attempt would not help: the namespace is being deleted, or the object's name is invalid.
 */
const refusals: ReadonlySet<number> = new Set([400, 403, 404, 405, 413, 422]);
const limits = {
  concurrency: 2,
  rate: { perSecond: 10, burst: 50 },
  backoff: { firstMs: 1_000, maxMs: 60_000 },
} as const;

/**
 * Writes Events of `events.k8s.io/v1` about objects: one Event for each object, reason and message, whose count
 * increases at most once a minute while the reason persists. The name of an Event is derived from its content, so that
 * a new leader continues the Events of the old one. See docs/controller.md, "Events".
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, source, log, signal, clock = monotonicClock, nowMs = Date.now } = options;
  const maxEvents = options.maxEvents ?? defaultMaxEvents;
  const entries = new Map<string, Entry>();
  const perNamespace = new Map<string, number>();
  let isFull = false;

  const queue = createWorkQueue({
    ...limits,
    signal,
    clock,
    process: (key) => send(key),
    // A namespace with thousands of Events does not delay those of others.
    turnOf: namespaceOf,
    onBug: (error) => log.error({ err: error }, "event recorder failed"),
  });

  const send = async (key: string): Promise<Result<unknown>> => {
    const entry = entries.get(key);
    if (entry === undefined || entry.unsent === 0) return ok("nothing");
    const sent = entry.count === 0 ? await create(entry) : await raise(entry);
    if (signal.aborted) return ok("ended");
    if (!sent.ok && !refusals.has(sent.error.status)) {
      log.debug(
        { ...describe(entry), error: describeApiError(sent.error) },
        "sending an Event failed, it is sent again later",
      );
      return problem(sent.error.message);
    }
    if (!sent.ok) {
      log.warn(
        { ...describe(entry), error: describeApiError(sent.error) },
        "Event rejected by the API server",
      );
      entry.unsent = 0;
    }
    entry.isPlanned = false;
    if (entry.unsent > 0) plan(key, entry, repeatMs);
    return ok("sent");
  };

  const create = async (entry: Entry): Promise<Result<unknown, ApiError>> => {
    const body = eventObject(entry.event, source, nowMs());
    const path = `/apis/events.k8s.io/v1/namespaces/${eventNamespace(entry.event)}/events`;
    const created = await client.call(path, { method: "POST", body, signal });
    if (created.ok) settle(entry, { count: 1, sent: 1 });
    return !created.ok && created.error.status === 409 ? adopt(entry) : created;
  };

  /**
   * Adopts an Event that another process, or this one in an earlier term, has already sent: this occurrence is a
   * repeat.
   */
  const adopt = async (entry: Entry): Promise<Result<unknown, ApiError>> => {
    const found = await client.call<StoredEvent>(pathOf(entry.event), { signal });
    if (!found.ok) return found;
    const { count, atMs } = readSeries(found.value);
    const agoMs = Math.max(0, nowMs() - atMs);
    settle(entry, { count, sent: 0, agoMs });
    return agoMs < repeatMs ? ok("later") : raise(entry);
  };

  const raise = async (entry: Entry): Promise<Result<unknown, ApiError>> => {
    const sent = entry.unsent;
    const count = entry.count + sent;
    const body = seriesPatch(count, nowMs());
    const raised = await client.call(pathOf(entry.event), { method: "PATCH", patch: "merge", body, signal });
    if (raised.ok) settle(entry, { count, sent });
    // Most clusters delete Events after an hour.
    return !raised.ok && raised.error.status === 404 ? create(entry) : raised;
  };

  const settle = (entry: Entry, now: { count: number; sent: number; agoMs?: number }): void => {
    entry.count = now.count;
    entry.unsent = Math.max(0, entry.unsent - now.sent);
    entry.sentAtMs = clock.nowMs() - (now.agoMs ?? 0);
  };

  /** Sends an Event once `afterMs` have passed since it was last sent. */
  const plan = (key: string, entry: Entry, afterMs: number): void => {
    if (entry.isPlanned) return;
    entry.isPlanned = true;
    const waitMs = entry.sentAtMs + afterMs - clock.nowMs();
    if (waitMs <= 0) queue.add(key);
    else entry.cancelTimer = clock.schedule(waitMs, () => queue.add(key));
  };

  const forget = (entry: Entry): void => {
    entry.cancelTimer();
    entry.isPlanned = false;
    entry.isPresent = false;
    entry.unsent = 0;
  };

  const remember = (key: string, event: ObjectEvent): Entry | undefined => {
    if (entries.size >= maxEvents) evict(namespaceOf(key));
    if (entries.size >= maxEvents) {
      if (!isFull) log.warn({ events: entries.size }, "too many Events, further ones are not sent");
      isFull = true;
      return undefined;
    }
    const entry: Entry = {
      event,
      isPresent: false,
      count: 0,
      unsent: 0,
      sentAtMs: Number.NEGATIVE_INFINITY,
      isPlanned: false,
      cancelTimer: () => {},
    };
    entries.set(key, entry);
    count(namespaceOf(key), 1);
    return entry;
  };

  const count = (namespace: string, step: 1 | -1): void => {
    const next = (perNamespace.get(namespace) ?? 0) + step;
    if (next === 0) perNamespace.delete(namespace);
    else perNamespace.set(namespace, next);
  };

  const remove = (key: string, entry: Entry): void => {
    forget(entry);
    entries.delete(key);
    count(namespaceOf(key), -1);
    isFull = false;
  };

  /**
   * Makes room for an Event of a namespace. Evicts the oldest Event that is neither present nor being sent, or else the
   * newest of the namespace with the most Events, if that has more than this one.
   */
  const evict = (forNamespace: string): void => {
    for (const [key, entry] of entries) {
      if (entry.isPresent || entry.isPlanned) continue;
      return remove(key, entry);
    }
    const [largest = forNamespace, most = 0] = [...perNamespace].sort(([, a], [, b]) => b - a).at(0) ?? [];
    if (most <= (perNamespace.get(forNamespace) ?? 0) + 1) return;
    const newest = [...entries].findLast(([key]) => namespaceOf(key) === largest);
    if (newest !== undefined) remove(...newest);
  };

  signal.addEventListener("abort", () => entries.forEach(forget), { once: true });

  return {
    sync(events) {
      if (signal.aborted) return;
      const named = new Map(events.map((event) => [keyOf(event), event]));
      for (const [key, entry] of entries) if (entry.isPresent && !named.has(key)) forget(entry);
      for (const [key, event] of named) {
        const entry = entries.get(key) ?? remember(key, event);
        if (entry === undefined) continue;
        entry.unsent = Math.max(entry.unsent, 1);
        plan(key, entry, entry.isPresent ? repeatMs : returnMs);
        entry.isPresent = true;
      }
    },
    record(event) {
      if (signal.aborted) return;
      const key = keyOf(event);
      const entry = entries.get(key) ?? remember(key, event);
      if (entry === undefined) return;
      entry.unsent += 1;
      plan(key, entry, repeatMs);
    },
    idle: queue.idle,
  };
}

/** The namespace of a key, which is `namespace/name`. */
const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** Event keys by identity, because every build refers to the same few Events. */
const keys = new WeakMap<ObjectEvent, string>();

function keyOf(event: ObjectEvent): string {
  const known = keys.get(event);
  if (known !== undefined) return known;
  const { namespace, name } = eventKey(event);
  const key = `${namespace}/${name}`;
  keys.set(event, key);
  return key;
}

const pathOf = (event: ObjectEvent): string => {
  const { namespace, name } = eventKey(event);
  return `/apis/events.k8s.io/v1/namespaces/${namespace}/events/${name}`;
};

const describe = ({ event: { regarding, reason } }: Entry): LogFields => ({
  object: formatRef(regarding),
  reason,
});
