import type { ListenerView } from "../../src/exchange/listener-view.ts";

/** What clients see of a listener that Gateways and Ingresses have alike. */
export function samePublicPorts(port: number): ListenerView["publicPorts"] {
  const publicPort = { port, label: String(port) };
  return { gateway: publicPort, ingress: publicPort };
}
