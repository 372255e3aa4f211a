import type { OwnedListener } from "../state/listener-list.ts";

/** What one socket is for: the listeners of a port that connections themselves tell apart share it. */
export type SocketPlan = Omit<OwnedListener, "protocol"> & {
  readonly family: "http" | "tls" | "tcp" | "udp";
  /** Of the family `tls`: whether names that no route below HTTP has belong to an HTTPS listener. */
  readonly servesHttps: boolean;
};

const families = { http: "http", https: "tls", tls: "tls", tcp: "tcp", udp: "udp" } as const;

/** The sockets of these listeners, by `port/family`. What listeners of one socket disagree on, the first one decides. */
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
