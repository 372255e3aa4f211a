import { realNowMs } from "../timing/real-clock.ts";

/** A connection that no request uses at the moment. */
export type IdleConnection = {
  /** Closes the connection and removes it from the pool of its endpoint; called once. */
  closeIdle(): void;
  /**
   * The place of the connection in the pool, which owns this property. Reused each time that the connection is idle.
   */
  idlePlace?: IdlePlace;
};

/** A node of the list of idle connections, ordered by entry. It has no neighbours while its connection is in use. */
export type IdlePlace = {
  readonly connection: IdleConnection | undefined;
  /** When the connection expires, in monotonic milliseconds. */
  untilMs: number;
  /** The time after which a peer that announced no timeout might close the connection, in monotonic milliseconds. */
  staleFromMs: number;
  earlier: IdlePlace | undefined;
  later: IdlePlace | undefined;
};

/**
 * Bounds the number of idle upstream connections over all endpoints and protocols of a worker. Beyond the bound, the
 * connection that has been idle longest is evicted (docs/features/upstream.md, "Connection pool").
 */
export type IdlePool = {
  /**
   * Adds a connection that has become idle, unless it is in the pool already. It expires after `timeoutMs`; if
   * undefined, never. A connection can be evicted during the call, even the added one.
   */
  add(connection: IdleConnection, timeoutMs?: number): void;
  /** Removes a connection that is about to be used or has ended. */
  remove(connection: IdleConnection): void;
  /** Reports whether a connection that is or was in the pool has expired. */
  hasExpired(connection: IdleConnection): boolean;
  /**
   * Reports whether the peer might be closing the connection by an idle timeout that is not known here: the connection
   * has been idle for more than a second, and neither the peer nor the policy of its Service set an idle timeout.
   */
  mayBeStale(connection: IdleConnection): boolean;
  /** Closes the connection that has been idle longest, to free its descriptor; returns false if the pool is empty. */
  closeOldest(): boolean;
  /** Closes the expired connections; called periodically. */
  closeExpired(nowMs: number): void;
  readonly size: number;
};

/**
 * Creates an empty pool. Every request takes a connection out and puts it back. The pool is therefore a linked list
 * whose nodes are kept with their connections and does not allocate; a Set would copy its table again and again.
 */
export function createIdlePool(maxConnections: number, now: () => number = realNowMs): IdlePool {
  /** The sentinel of the circular list, between the newest and the oldest. */
  const sentinel = newPlace(undefined);
  sentinel.earlier = sentinel;
  sentinel.later = sentinel;
  let size = 0;
  /** The number of connections in the list that have a timeout. */
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

/** The idle time that servers are assumed to grant at least when they announce no timeout. */
const minServerIdleMs = 1000;

const newPlace = (connection: IdleConnection | undefined): IdlePlace => ({
  connection,
  untilMs: never,
  staleFromMs: never,
  earlier: undefined,
  later: undefined,
});
