import type { OwnedListener } from "../state/listener-list.ts";

/** The plan of one socket. The listeners of a port share it if connections themselves identify their listener. */
export type SocketPlan = Omit<OwnedListener, "protocol"> & {
  readonly family: "http" | "tls" | "tcp" | "udp";
  /** For the family `tls`: whether names without a route below HTTP belong to an HTTPS listener. */
  readonly servesHttps: boolean;
};

const families = { http: "http", https: "tls", tls: "tls", tcp: "tcp", udp: "udp" } as const;

/** Returns the sockets of listeners, by `port/family`. If listeners of one socket disagree, the first one decides. */
export function planSockets(listeners: readonly OwnedListener[]): ReadonlyMap<string, SocketPlan> {
  const sockets = new Map<string, SocketPlan>();
  for (const { protocol, ...rest } of listeners) {
    const family = families[protocol];
    const key = `${rest.port}/${family}`;
    const present = sockets.get(key);
    const servesHttps = protocol === "https" || present?.servesHttps === true;
    const publicPorts = { ...rest.publicPorts, ...present?.publicPorts };
    sockets.set(key, { ...rest, ...present, publicPorts, family, servesHttps });
  }
  return sockets;
}
