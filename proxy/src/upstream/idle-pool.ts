/** A connection that nothing uses at the moment. */
export type IdleConnection = {
  /** Closes it and takes it out of whatever holds it; called once. */
  closeIdle(): void;
};

/**
 * The bound on idle upstream connections over all endpoints and protocols of a worker: the one that has been idle
 * longest gives way (docs/features/upstream.md, "Connection pool").
 */
export type IdlePool = {
  /** Enters a connection that has become idle; may close it, or another, at once. */
  add(connection: IdleConnection): void;
  /** Takes a connection out that is about to be used or has ended. */
  remove(connection: IdleConnection): void;
  readonly size: number;
};

export function createIdlePool(maxConnections: number): IdlePool {
  /** In order of entry: the first has been idle longest. */
  const idle = new Set<IdleConnection>();
  return {
    add(connection) {
      idle.add(connection);
      if (idle.size <= maxConnections) return;
      for (const oldest of idle) {
        idle.delete(oldest);
        oldest.closeIdle();
        return;
      }
    },
    remove(connection) {
      idle.delete(connection);
    },
    get size() {
      return idle.size;
    },
  };
}
