import { z } from "zod";
import { observationSchema } from "./observation.ts";

/** The PROXY protocol settings of a socket. */
const proxyProtocolSchema = z.object({
  /** Whether each connection begins with a PROXY protocol header. */
  accepted: z.boolean(),
  /** Address ranges of the peers that may send a header; connections of other peers are closed. */
  trustedPeers: z.array(z.string()).readonly(),
});

/**
 * A socket on which the proxy accepts connections. Several Gateway listeners with one (port, protocol) are one entry
 * here; their host names are part of the route and certificate resources of that port.
 */
export const listenerSchema = z.object({
  /**
   * The port by which routing, TLS and metrics are keyed; also the local port, unless a port map specifies another one.
   */
  port: z.int().min(1).max(65535),
  /** The port to which clients connect, used for `Location` and `X-Forwarded-Port`. */
  publicPort: z.int().min(1).max(65535),
  protocol: z.enum(["http", "https", "tls", "tcp", "udp"]),
  /** PROXY protocol settings; if absent, the flags of the proxy decide (docs/features/proxy-protocol.md). */
  proxyProtocol: proxyProtocolSchema.optional(),
  /**
   * The maximum number of open connections over all workers of a proxy. If absent, the flags of the proxy decide
   * (docs/features/listeners.md).
   */
  maxConnections: z.int().min(1).optional(),
  /** The logging and tracing of requests that no Ingress serves. If absent, the flags of the proxy decide. */
  observation: observationSchema.optional(),
});

/** The listeners of one owner (a Gateway, or all Ingresses together), sorted by port and protocol. */
export const listenerSetSchema = z.object({
  listeners: z.array(listenerSchema),
  /**
   * A digest of the generations of the Gateway and its ListenerSets, which proxies do not use: a proxy that has
   * acknowledged the resource serves these generations (docs/discovery.md, "What proxies report"). Absent for Ingresses
   * and for objects from files.
   */
  generations: z.string().optional(),
});

export type ProxyProtocol = Readonly<z.infer<typeof proxyProtocolSchema>>;
export type Listener = Readonly<z.infer<typeof listenerSchema>>;
export type ListenerSet = {
  readonly listeners: readonly Listener[];
  readonly generations?: string | undefined;
};
