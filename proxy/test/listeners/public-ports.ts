import type { ListenerView } from "../../src/exchange/listener-view.ts";

/** The public ports of a listener whose port is the same for Gateways and Ingresses. */
export function samePublicPorts(port: number): ListenerView["publicPorts"] {
  const publicPort = { port, label: String(port) };
  return { gateway: publicPort, ingress: publicPort };
}
