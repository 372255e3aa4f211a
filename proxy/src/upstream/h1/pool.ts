import type { IdlePool } from "../idle-pool.ts";
import { isCurrentAddress, type Resolver } from "../resolver.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import type { Http1Connection } from "./connection.ts";
import { KnownHead } from "./known-head.ts";

/** State shared by the connections to one endpoint. */
export type EndpointConnections = {
  /** The connections that wait for a request, the most recently used last. */
  readonly idle: Http1Connection[];
  retired: boolean;
  readonly knownHead: KnownHead;
};

/**
 * The idle connections by endpoint, of which the most recently used is taken first. The idle pool limits their number
 * (docs/features/upstream.md, "Connection pool").
 */
export class ConnectionPool {
  /** An entry disappears when its endpoint object is garbage-collected. */
  private readonly byEndpoint = new WeakMap<UpstreamEndpoint, EndpointConnections>();
  private readonly idlePool: IdlePool;
  private readonly resolver: Resolver;

  constructor(idlePool: IdlePool, resolver: Resolver) {
    this.idlePool = idlePool;
    this.resolver = resolver;
  }

  connectionsOf(endpoint: UpstreamEndpoint): EndpointConnections {
    const known = this.byEndpoint.get(endpoint);
    if (known !== undefined) return known;
    const connections: EndpointConnections = { idle: [], retired: false, knownHead: new KnownHead() };
    this.byEndpoint.set(endpoint, connections);
    return connections;
  }

  /**
   * Removes and returns an idle connection that can carry a request. If the request can be sent only once, a connection
   * that its peer might be closing is closed instead, so that the new connection takes its place.
   */
  take(endpoint: UpstreamEndpoint, onlyOnce: boolean): Http1Connection | undefined {
    const { idle } = this.connectionsOf(endpoint);
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      this.idlePool.remove(connection);
      const isFresh = !this.idlePool.hasExpired(connection);
      const isCurrent = isCurrentAddress(this.resolver, endpoint.host, connection.address);
      const canTake = isFresh && connection.usable && isCurrent;
      const isSafe = !onlyOnce || !this.idlePool.mayBeStale(connection);
      if (canTake && isSafe) return connection;
      connection.destroy();
      if (canTake) return undefined;
    }
    return undefined;
  }

  /** Keeps a connection for the next request; returns false if its endpoint was removed. */
  release(connection: Http1Connection): boolean {
    const { siblings } = connection;
    if (siblings.retired) return false;
    siblings.idle.push(connection);
    this.idlePool.add(
      connection,
      shorter(connection.endpoint.limits?.idleTimeoutMs, connection.announcedIdleMs),
    );
    return true;
  }

  /** Removes a connection that has ended while it was idle. */
  forget(connection: Http1Connection): void {
    const { idle } = connection.siblings;
    const index = idle.lastIndexOf(connection);
    if (index < 0) return;
    idle.splice(index, 1);
    this.idlePool.remove(connection);
  }

  /** Closes idle connections; those in use are not kept after their response. */
  retire(endpoint: UpstreamEndpoint): void {
    const connections = this.connectionsOf(endpoint);
    connections.retired = true;
    for (let idle = connections.idle.pop(); idle !== undefined; idle = connections.idle.pop()) {
      this.idlePool.remove(idle);
      idle.destroy();
    }
  }
}

const shorter = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
