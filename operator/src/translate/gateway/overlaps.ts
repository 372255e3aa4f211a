/** Listeners of one port that end TLS for the same server names (GEP-3567). See docs/gateway-api.md, "Listeners". */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { anyHost } from "../ingress/host.ts";
import { memo } from "../memo.ts";
import { listenersOf, type Listener, type PlannedGateway } from "./gateways.ts";

/**
 * For each listener whose host name covers that of another one of its port, or is covered by it, another one with which
 * that is so, by ids. Only what ends TLS counts: who passes it through has no certificate to show.
 */
export const overlapsOf: (gateway: PlannedGateway) => ReadonlyMap<string, Listener> = memo((gateway) => {
  const overlaps = new Map<string, Listener>();
  const secure = listenersOf(gateway).filter(({ serves, tlsMode }) => serves && tlsMode === "terminate");
  for (const ofPort of Map.groupBy(secure, ({ port }) => port).values()) {
    // No two that serve have the same host name.
    const byHost = new Map(ofPort.map((listener) => [listener.hostname.host, listener]));
    for (const listener of ofPort) {
      for (const host of widerHosts(listener.hostname)) {
        const wider = byHost.get(host);
        if (wider === undefined) continue;
        if (!overlaps.has(listener.id)) overlaps.set(listener.id, wider);
        if (!overlaps.has(wider.id)) overlaps.set(wider.id, listener);
      }
    }
  }
  return overlaps;
});

/** The patterns that cover a host besides itself, the narrowest first. */
function* widerHosts({ kind, host }: HostPattern): Generator<string, void> {
  if (kind === "any") return;
  const start = kind === "wildcard" ? 2 : 0;
  for (let dot = host.indexOf(".", start); dot >= 0; dot = host.indexOf(".", dot + 1))
    yield `*${host.slice(dot)}`;
  yield anyHost.host;
}
