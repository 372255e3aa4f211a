import { z } from "zod";
import { observationSchema } from "./observation.ts";

/** How the connections of a socket begin. */
const proxyProtocolSchema = z.object({
  /** Whether each begins with a PROXY protocol header. */
  accepted: z.boolean(),
  /** Ranges of the peers that may send one; connections of others are closed. */
  trustedPeers: z.array(z.string()).readonly(),
});

/**
 * A socket that the proxy accepts on. Several Gateway listeners with one (port, protocol) are one entry here;
 * their host names live in the route and certificate resources of that port.
 */
export const listenerSchema = z.object({
  /** Port the routing, TLS and metrics are keyed by; also the local port unless a port map says otherwise. */
  port: z.int().min(1).max(65535),
  /** Port that clients see, used for `Location` and `X-Forwarded-Port`. */
  publicPort: z.int().min(1).max(65535),
  protocol: z.enum(["http", "https", "tls", "tcp", "udp"]),
  /** Absent: the flags of the proxy decide (docs/features/proxy-protocol.md). */
  proxyProtocol: proxyProtocolSchema.optional(),
  /** Open connections over all workers of a proxy. Absent: the flags of the proxy decide (docs/features/listeners.md). */
  maxConnections: z.int().min(1).optional(),
  /** How requests to it are logged that no Ingress serves. Absent: the flags of the proxy decide. */
  observation: observationSchema.optional(),
});

/** What one owner (a Gateway, or all Ingresses together) listens on, sorted by port and protocol. */
export const listenerSetSchema = z.object({ listeners: z.array(listenerSchema) });

export type ProxyProtocol = Readonly<z.infer<typeof proxyProtocolSchema>>;
export type Listener = Readonly<z.infer<typeof listenerSchema>>;
export type ListenerSet = { readonly listeners: readonly Listener[] };
