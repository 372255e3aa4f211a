import { realNowMs } from "../timing/real-clock.ts";

/** A connection that nothing uses at the moment. */
export type IdleConnection = {
  /** Closes the connection and removes it from the pool of its endpoint; called once. */
  closeIdle(): void;
  /** Owned by the pool: the place of the connection, reused for every stay. */
  idlePlace?: IdlePlace;
};

/** A place in the order of entry; without neighbours while its connection is in use. */
export type IdlePlace = {
  readonly connection: IdleConnection | undefined;
  /** When it has been idle for too long, in monotonic milliseconds. */
  untilMs: number;
  /** When its peer may begin to close it without having announced a timeout, likewise. */
  staleFromMs: number;
  earlier: IdlePlace | undefined;
  later: IdlePlace | undefined;
};

/**
 * The bound on idle upstream connections over all endpoints and protocols of a worker: the one that has been idle
 * longest is evicted (docs/features/upstream.md, "Connection pool").
 */
export type IdlePool = {
  /**
   * Adds a connection that has become idle, once; may close it, or another, at once. It expires after `timeoutMs`;
   * undefined: never.
   */
  add(connection: IdleConnection, timeoutMs?: number): void;
  /** Removes a connection that is about to be used or has ended. */
  remove(connection: IdleConnection): void;
  /** Whether a connection that is or was here has been idle for too long. */
  hasExpired(connection: IdleConnection): boolean;
  /**
   * Whether its peer might be closing a connection that is or was here, by its own idle timeout: it has been idle for
   * more than a second, and neither the peer nor its Service has set an idle timeout.
   */
  mayBeStale(connection: IdleConnection): boolean;
  /** Closes the connection that has been idle longest, for its descriptor; false: there is none. */
  closeOldest(): boolean;
  /** Closes what has been idle for too long; called every now and then. */
  closeExpired(nowMs: number): void;
  readonly size: number;
};

/**
 * Creates an empty pool. Every request takes a connection out and puts it back, so this is a linked list of places that
 * live with their connections: it allocates nothing, where a Set would copy its table again and again.
 */
export function createIdlePool(maxConnections: number, now: () => number = realNowMs): IdlePool {
  /** The sentinel of the circular list, between the newest and the oldest. */
  const sentinel = newPlace(undefined);
  sentinel.earlier = sentinel;
  sentinel.later = sentinel;
  let size = 0;
  /** Connections that may stay for a limited time only. */
  let limited = 0;

  const remove = (connection: IdleConnection): void => {
    const place = connection.idlePlace;
    if (place?.earlier === undefined || place.later === undefined) return;
    place.earlier.later = place.later;
    place.later.earlier = place.earlier;
    place.earlier = undefined;
    place.later = undefined;
    size--;
    if (place.untilMs !== never) limited--;
  };

  const closeOldest = (): boolean => {
    const oldest = sentinel.later?.connection;
    if (oldest === undefined) return false;
    remove(oldest);
    oldest.closeIdle();
    return true;
  };

  return {
    add(connection, timeoutMs) {
      const place = (connection.idlePlace ??= newPlace(connection));
      if (place.later !== undefined) return;
      const nowMs = now();
      if (timeoutMs === undefined) {
        place.untilMs = never;
        place.staleFromMs = nowMs + minServerIdleMs;
      } else {
        place.untilMs = nowMs + timeoutMs;
        place.staleFromMs = never;
        limited++;
      }
      const newest = sentinel.earlier as IdlePlace;
      place.earlier = newest;
      place.later = sentinel;
      newest.later = place;
      sentinel.earlier = place;
      size++;
      if (size > maxConnections) closeOldest();
    },
    closeOldest,
    remove,
    hasExpired({ idlePlace: { untilMs } = sentinel }) {
      return untilMs !== never && untilMs <= now();
    },
    mayBeStale({ idlePlace: { staleFromMs } = sentinel }) {
      return staleFromMs !== never && staleFromMs < now();
    },
    closeExpired(nowMs) {
      if (limited === 0) return;
      let place = sentinel.later as IdlePlace;
      while (place.connection !== undefined) {
        const { connection, untilMs } = place;
        place = place.later as IdlePlace;
        if (untilMs > nowMs) continue;
        remove(connection);
        connection.closeIdle();
      }
    },
    get size() {
      return size;
    },
  };
}

const never = Number.POSITIVE_INFINITY;

/** Servers that close idle connections without announcing it wait for longer than this. */
const minServerIdleMs = 1000;

const newPlace = (connection: IdleConnection | undefined): IdlePlace => ({
  connection,
  untilMs: never,
  staleFromMs: never,
  earlier: undefined,
  later: undefined,
});
