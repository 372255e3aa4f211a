/**
 * Listeners of different Gateways that the same proxies would bind to one port. This is so where a listener's port is
 * the port of the proxy: standalone, and on a controller without virtual IPs. See docs/gateway-api.md, "Shared ports".
 */
import type { Listener as BoundListener } from "@svc-gateway/common/ir/listener.ts";
import type { Refusal } from "../condition.ts";
import { refOf, nameOf } from "../../api/object.ts";
import { listenersOf, withListeners } from "./gateways.ts";
import { familyOf, hasHostnames, transportOf } from "./kinds.ts";
import type { PlacedGateway } from "./placement.ts";

/** What has a port before any Gateway: its number and what its listener speaks. */
export type Reserved = { readonly port: number; readonly protocol: BoundListener["protocol"] };

const placeOf = ({ port, protocol }: Reserved): string => `${transportOf(protocol)}/${port}`;

type Holder = { readonly family: string; readonly by: string; readonly hosts: Map<string, string> };

/**
 * Takes listeners out of service whose port speaks something else already, or whose host an older Gateway serves on it.
 * Gateways without such a listener come back as they are, and the others as the same value for as long as nothing of
 * this changes.
 */
export function createCollisionCheck(
  reserved: readonly Reserved[],
): (gateways: readonly PlacedGateway[]) => readonly PlacedGateway[] {
  const known = new WeakMap<PlacedGateway, { readonly key: string; readonly result: PlacedGateway }>();
  return (gateways) => {
    const holders = new Map<string, Holder>(
      reserved.map((one) => [
        placeOf(one),
        { family: familyOf(one.protocol), by: "the Ingresses", hosts: new Map() },
      ]),
    );
    return gateways.map((planned) => {
      if (!planned.placement.inShared) return planned;
      const refusals = findRefusals(planned, holders);
      if (refusals.size === 0) return planned;
      const key = JSON.stringify([...refusals]);
      const last = known.get(planned);
      if (last?.key === key) return last.result;
      const result = refuse(planned, refusals);
      known.set(planned, { key, result });
      return result;
    });
  };
}

function findRefusals(
  placed: PlacedGateway,
  /** By transport and port. */
  holders: Map<string, Holder>,
): ReadonlyMap<string, Refusal> {
  const by = `Gateway ${nameOf(refOf(placed.gateway))}`;
  const refusals = new Map<string, Refusal>();
  for (const { id, port, protocol, hostname, serves } of listenersOf(placed)) {
    if (!serves || protocol === undefined) continue;
    const family = familyOf(protocol);
    const place = placeOf({ port, protocol });
    const holder = holders.get(place) ?? { family, by, hosts: new Map<string, string>() };
    holders.set(place, holder);
    const owner = holder.hosts.get(hostname.host) ?? by;
    if (holder.family !== family) {
      const message = `Port ${port} serves ${holder.by} with another protocol`;
      refusals.set(id, { reason: "PortUnavailable", message });
    } else if (owner !== by && !hasHostnames(family)) {
      const message = `Port ${port} belongs to ${owner}`;
      refusals.set(id, { reason: "PortUnavailable", message });
    } else if (owner !== by) {
      const message = `Host ${hostname.host} on port ${port} belongs to ${owner}`;
      refusals.set(id, { reason: "HostnameConflict", message });
    } else holder.hosts.set(hostname.host, by);
  }
  return refusals;
}

function refuse(planned: PlacedGateway, refusals: ReadonlyMap<string, Refusal>): PlacedGateway {
  return withListeners(planned, (listener) => {
    const refusal = refusals.get(listener.id);
    if (refusal === undefined) return listener;
    return refusal.reason === "PortUnavailable"
      ? { ...listener, unaccepted: refusal, serves: false }
      : { ...listener, conflict: refusal, serves: false };
  });
}
