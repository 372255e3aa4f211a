/** A connection that nothing uses at the moment. */
export type IdleConnection = {
  /** Closes it and takes it out of whatever holds it; called once. */
  closeIdle(): void;
  /** The pool's own: its place there, kept from one stay to the next. */
  idlePlace?: IdlePlace;
};

/** A place in the order of entry; without neighbours while its connection is in use. */
export type IdlePlace = {
  readonly connection: IdleConnection | undefined;
  /** When it has been idle for too long, in monotonic milliseconds. */
  untilMs: number;
  /** From when on its peer may close it unannounced, likewise. */
  doubtfulMs: number;
  earlier: IdlePlace | undefined;
  later: IdlePlace | undefined;
};

/**
 * The bound on idle upstream connections over all endpoints and protocols of a worker: the one that has been idle
 * longest gives way (docs/features/upstream.md, "Connection pool").
 */
export type IdlePool = {
  /**
   * Enters a connection that has become idle, once; may close it, or another, at once. After `timeoutMs` it is of no
   * more use; undefined: it may stay for any time.
   */
  add(connection: IdleConnection, timeoutMs?: number): void;
  /** Takes a connection out that is about to be used or has ended. */
  remove(connection: IdleConnection): void;
  /** Whether a connection that is or was here has been idle for too long. */
  hasExpired(connection: IdleConnection): boolean;
  /**
   * Whether its peer might be closing a connection that is or was here, by its own idle timeout: it has been idle for
   * more than a second, and nobody has said how long it may be.
   */
  isDoubtful(connection: IdleConnection): boolean;
  /** Closes what has been idle for too long; called every now and then. */
  closeExpired(nowMs: number): void;
  readonly size: number;
};

/**
 * Creates an empty pool. Every request takes a connection out and puts it back, so this is a ring of places that
 * live as long as their connections: it makes no garbage, where a Set would leave one copy of its table after another.
 */
export function createIdlePool(
  maxConnections: number,
  now: () => number = () => performance.now(),
): IdlePool {
  /** Stands between the newest and the oldest. */
  const seam = newPlace(undefined);
  seam.earlier = seam;
  seam.later = seam;
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

  return {
    add(connection, timeoutMs) {
      const place = (connection.idlePlace ??= newPlace(connection));
      if (place.later !== undefined) return;
      const nowMs = now();
      if (timeoutMs === undefined) {
        place.untilMs = never;
        place.doubtfulMs = nowMs + undoubtedMs;
      } else {
        place.untilMs = nowMs + timeoutMs;
        place.doubtfulMs = never;
        limited++;
      }
      const newest = seam.earlier as IdlePlace;
      place.earlier = newest;
      place.later = seam;
      newest.later = place;
      seam.earlier = place;
      size++;
      const oldest = seam.later?.connection;
      if (size <= maxConnections || oldest === undefined) return;
      remove(oldest);
      oldest.closeIdle();
    },
    remove,
    hasExpired({ idlePlace: { untilMs } = seam }) {
      return untilMs !== never && untilMs <= now();
    },
    isDoubtful({ idlePlace: { doubtfulMs } = seam }) {
      return doubtfulMs !== never && doubtfulMs < now();
    },
    closeExpired(nowMs) {
      if (limited === 0) return;
      let place = seam.later as IdlePlace;
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

/** Servers that close idle connections without having said so wait for longer than this. */
const undoubtedMs = 1000;

const newPlace = (connection: IdleConnection | undefined): IdlePlace => ({
  connection,
  untilMs: never,
  doubtfulMs: never,
  earlier: undefined,
  later: undefined,
});
