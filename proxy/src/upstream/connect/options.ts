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
  /** Reads and writes the bytes of established connections. */
  readonly sockets: SocketLayer;
  /** Refuses the ports of the gateway itself; if absent, none is refused. */
  readonly ownPorts?: Pick<OwnPortGuard, "refuses"> | undefined;
};

/** The options of one connect: some of those of its client, and its own. */
export type ConnectOptions = Pick<UpstreamClientOptions, "connectTimeoutMs" | "resolver" | "ownPorts"> & {
  /** The protocol to negotiate by ALPN (RFC 7301); none if absent. An endpoint that selects another one is rejected. */
  readonly alpn?: "h2" | "http/1.1";
  /** Reads into memory of the caller's choice instead of emitting `data`. */
  readonly onread?: OnReadOpts;
  /** Limit of the connect in milliseconds; by default that of the endpoint, otherwise that of the client. */
  readonly limitMs?: number | undefined;
  /** Closes an idle connection if there is no descriptor for a new one; if absent, the connect fails. */
  readonly idlePool?: Pick<IdlePool, "closeOldest">;
  /** Whether the writable side stays open after the peer has closed its own. */
  readonly allowHalfOpen?: boolean;
};

/**
 * Returns the limit of a connect in milliseconds: that of the endpoint's Service, else that of the client; 0 = none.
 */
export const connectTimeoutOf = (
  { limits }: UpstreamEndpoint,
  { connectTimeoutMs }: Pick<UpstreamClientOptions, "connectTimeoutMs">,
): number => limits?.connectTimeoutMs ?? connectTimeoutMs;
