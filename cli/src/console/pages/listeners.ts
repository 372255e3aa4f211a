import type { Page } from "../layout.ts";
import { badge, card, table } from "../parts.ts";
import type { View } from "../view.ts";
import { html } from "../html.ts";

/** The sockets on which each scope accepts connections. */
export function listenersPage({ source, model }: View): Page {
  const localPorts = new Map(source.portMap.map(({ listenerPort, localPort }) => [listenerPort, localPort]));
  return {
    title: "Listeners",
    lead: "The ports that connections are accepted on, and who asks for them.",
    path: "/listeners",
    body: card(
      "Listeners",
      table(
        [
          { name: "Port", isNumber: true },
          { name: "Protocol" },
          { name: "Owner" },
          { name: "Clients see", isNumber: true },
          { name: "Hosts", isNumber: true },
          { name: "Settings" },
        ],
        model.listeners.map((listener) => {
          const { port, protocol, publicPort, owner, scope, hosts, maxConnections, proxyProtocol } = listener;
          const local = localPorts.get(port) ?? port;
          return [
            html`${port}${local !== port && html`<small>accepted on ${local === 0 ? "a free port" : local}</small>`}`,
            badge(protocol.toUpperCase(), protocol === "https" || protocol === "tls" ? "good" : "plain"),
            html`${owner}<small
                >${scope === "shared" ? "shared proxies" : `proxies of Gateway ${scope}`}</small
              >`,
            publicPort,
            hosts,
            [
              maxConnections !== undefined && badge(`at most ${maxConnections} connections`),
              proxyProtocol?.accepted === true && badge("PROXY protocol"),
            ],
          ];
        }),
        "Nothing listens: no Ingress and no Gateway asks for a port.",
      ),
    ),
  };
}
