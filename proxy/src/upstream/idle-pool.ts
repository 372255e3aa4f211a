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
  earlier: IdlePlace | undefined;
  later: IdlePlace | undefined;
};

/**
 * The bound on idle upstream connections over all endpoints and protocols of a worker: the one that has been idle
 * longest gives way (docs/features/upstream.md, "Connection pool").
 */
export type IdlePool = {
  /** Enters a connection that has become idle, once; may close it, or another, at once. */
  add(connection: IdleConnection): void;
  /** Takes a connection out that is about to be used or has ended. */
  remove(connection: IdleConnection): void;
  readonly size: number;
};

/**
 * Creates an empty pool. Every request takes a connection out and puts it back, so this is a ring of places that
 * live as long as their connections: it makes no garbage, where a Set would leave one copy of its table after another.
 */
export function createIdlePool(maxConnections: number): IdlePool {
  /** Stands between the newest and the oldest. */
  const seam: IdlePlace = { connection: undefined, earlier: undefined, later: undefined };
  seam.earlier = seam;
  seam.later = seam;
  let size = 0;

  const remove = (connection: IdleConnection): void => {
    const place = connection.idlePlace;
    if (place?.earlier === undefined || place.later === undefined) return;
    place.earlier.later = place.later;
    place.later.earlier = place.earlier;
    place.earlier = undefined;
    place.later = undefined;
    size--;
  };

  return {
    add(connection) {
      const place = (connection.idlePlace ??= { connection, earlier: undefined, later: undefined });
      if (place.later !== undefined) return;
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
    get size() {
      return size;
    },
  };
}
