import { awake } from "../timing/awake-clock.ts";
import type { UpstreamEndpoint } from "../upstream/upstream.ts";
import { L4Connections, type L4ConnectionOptions } from "./connections.ts";
import { UdpSessions, type UdpClient, type UdpSessionsOptions } from "./udp-sessions.ts";

/** The connections and datagrams that a worker forwards below HTTP, over all listeners. */
export type L4 = {
  readonly connections: Pick<L4Connections, "accept" | "destroy">;
  /** Creates the sessions of a listener, which are swept until `forget` is called. */
  udpSessions(port: number, reply: (message: Buffer, client: UdpClient) => void): UdpSessions;
  forget(sessions: UdpSessions): void;
  /** Ends the UDP sessions of removed endpoints. Connections to them may finish. */
  retire(endpoints: readonly UpstreamEndpoint[]): void;
  /** Ends connections and sessions that have exceeded their idle timeout. */
  sweep(): void;
};

export type L4Options = {
  readonly connections: L4ConnectionOptions;
  readonly udp: UdpSessionsOptions;
};

export function createL4(options: L4Options): L4 {
  const connections = new L4Connections(options.connections);
  const udp = new Set<UdpSessions>();
  return {
    connections,
    udpSessions(port, reply) {
      const sessions = new UdpSessions(port, reply, options.udp);
      udp.add(sessions);
      return sessions;
    },
    forget: (sessions) => void udp.delete(sessions),
    retire(endpoints) {
      const removed = new Set(endpoints);
      for (const sessions of udp) sessions.retire(removed);
    },
    sweep() {
      connections.sweep(awake.nowMs);
      for (const sessions of udp) sessions.sweep();
    },
  };
}
