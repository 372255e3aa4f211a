import { nodeSockets, type SocketLayer } from "../sockets/socket-layer.ts";
import { createHttp1UpstreamClient } from "./h1/client.ts";
import { createHttp2UpstreamClient, type Http2Codec } from "./h2/client.ts";
import { createIdlePool } from "./idle-pool.ts";
import type { OwnPortGuard } from "./own-port-guard.ts";
import { createResolver, type Resolver } from "./resolver.ts";
import type { UpstreamClient } from "./upstream.ts";

/** The limits and dependencies of a worker's upstream client. */
export type UpstreamLimits = {
  /** Limit of a connect, name resolution included, in milliseconds; 0 = none. */
  readonly connectTimeoutMs: number;
  /** Idle connections over all endpoints and protocols; the one that has been idle longest is evicted. */
  readonly maxIdleConnections: number;
  /** Resolves the names of endpoints; by default, a new resolver. */
  readonly resolver?: Resolver;
  /** Reads and writes the bytes of established connections; by default, Node's public sockets. */
  readonly sockets?: SocketLayer;
  /** The HTTP/2 implementation; `native` by default. */
  readonly http2Codec?: Http2Codec;
  /** Rejects endpoints that are ports of the gateway itself; if absent, none is rejected. */
  readonly ownPorts?: Pick<OwnPortGuard, "refuses">;
};

/** Creates the upstream client of a worker, which speaks the protocol that each request names. */
export function createUpstreamClient(limits: UpstreamLimits): UpstreamClient & {
  /** Closes connections that have been idle for longer than their Service allows. */
  closeExpired(nowMs: number): void;
} {
  const options = {
    connectTimeoutMs: limits.connectTimeoutMs,
    idlePool: createIdlePool(limits.maxIdleConnections),
    resolver: limits.resolver ?? createResolver(),
    sockets: limits.sockets ?? nodeSockets,
    ownPorts: limits.ownPorts,
  };
  const clients = {
    http1: createHttp1UpstreamClient(options),
    http2: createHttp2UpstreamClient(options, limits.http2Codec),
  };
  return {
    send: (endpoint, request, handler) => clients[request.protocol].send(endpoint, request, handler),
    retire(endpoints) {
      clients.http1.retire(endpoints);
      clients.http2.retire(endpoints);
    },
    closeExpired: (nowMs) => options.idlePool.closeExpired(nowMs),
    close() {
      clients.http1.close();
      clients.http2.close();
    },
  };
}
