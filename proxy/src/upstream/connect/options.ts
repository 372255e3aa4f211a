import type { OnReadOpts } from "node:net";
import type { SocketLayer } from "../../sockets/socket-layer.ts";
import type { IdlePool } from "../idle-pool.ts";
import type { OwnPortGuard } from "../own-port-guard.ts";
import type { Resolver } from "../resolver.ts";
import type { UpstreamEndpoint } from "../upstream.ts";

/** The options that the upstream clients of all protocols share; one per worker. */
export type UpstreamClientOptions = {
  /** Limit of a connect, name resolution included, in milliseconds; 0 = none. */
  readonly connectTimeoutMs: number;
  readonly idlePool: IdlePool;
  readonly resolver: Resolver;
  /** How the bytes of established connections are read and written. */
  readonly sockets: SocketLayer;
  /** Refuses the ports of the gateway itself; absent: none is refused. */
  readonly ownPorts?: Pick<OwnPortGuard, "refuses"> | undefined;
};

/** What one connect needs of the client, and what it does in its own way. */
export type ConnectOptions = Pick<UpstreamClientOptions, "connectTimeoutMs" | "resolver" | "ownPorts"> & {
  /** The protocol over TLS (RFC 7301); absent: ALPN is not used. An endpoint that selects another one is rejected. */
  readonly alpn?: "h2" | "http/1.1";
  /** Reads into memory of the caller's choice instead of emitting `data`. */
  readonly onread?: OnReadOpts;
  /** The limit of the connect in milliseconds; absent: that of the endpoint, else of the client. */
  readonly limitMs?: number | undefined;
  /** Gives up a connection when there is no descriptor for a new one; absent: the connect fails. */
  readonly idlePool?: Pick<IdlePool, "closeOldest">;
  /** Keep the writable side when the other end has closed its own. */
  readonly allowHalfOpen?: boolean;
};

/** Limit of a connect to the endpoint in milliseconds: that of its Service, else the client's; 0 = none. */
export const connectTimeoutOf = (
  { limits }: UpstreamEndpoint,
  { connectTimeoutMs }: Pick<UpstreamClientOptions, "connectTimeoutMs">,
): number => limits?.connectTimeoutMs ?? connectTimeoutMs;
