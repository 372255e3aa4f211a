import { z } from "zod";

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
  /** Whether connections begin with a PROXY protocol header; absent: `--proxy-accept-proxy-protocol` decides. */
  acceptProxyProtocol: z.boolean().optional(),
});

/** What one owner (a Gateway, or all Ingresses together) listens on, sorted by port and protocol. */
export const listenerSetSchema = z.object({ listeners: z.array(listenerSchema) });

export type Listener = Readonly<z.infer<typeof listenerSchema>>;
export type ListenerSet = { readonly listeners: readonly Listener[] };
