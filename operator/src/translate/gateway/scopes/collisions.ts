/**
 * Listeners of different Gateways that the same proxies would bind to one port. They exist where the port of a
 * listener is that of the proxy: in standalone mode, and with a controller without virtual IPs. See
 * docs/gateway-api.md, "Shared ports".
 */
import type { Listener as BoundListener } from "@svc-gateway/common/ir/listener.ts";
import { refOf, nameOf } from "../../../api/object.ts";
import type { ConditionReason } from "../../condition.ts";
import type { MachinePorts } from "../../settings.ts";
import { familyOf, hasHostnames, transportOf } from "../kinds.ts";
import { listenersOf, withListeners } from "../listeners/gateways.ts";
import type { PlacedGateway } from "./placement.ts";

/** A port that is bound before those of Gateways: its number and protocol. */
export type Reserved = { readonly port: number; readonly protocol: BoundListener["protocol"] };

type Holder = {
  /** The listener port. */
  readonly port: number;
  readonly family: string;
  readonly by: string;
  readonly hosts: Map<string, string>;
};

/** The holder of each socket, by transport and local port. */
type Sockets = {
  readonly holders: Map<string, Holder>;
  /** The Gateways that close a name, by listener port and host. */
  readonly closed: Map<string, string>;
  readonly placeOf: (listener: Reserved) => Place;
  /** The flag that reserves a port for the process itself; undefined if none does. */
  readonly flagOf: (place: Place) => string | undefined;
};

type Place = { readonly key: string; readonly localPort: number };

/**
 * Takes listeners out of service if their port already serves another protocol, if an older Gateway serves
 * their host on it, or if the local port already accepts the connections for another port. Gateways without
 * such a listener are returned unchanged; the others are the same value until their refusals change.
 */
export function createCollisionCheck(
  reserved: readonly Reserved[],
  { map, taken }: MachinePorts = { map: [], taken: [] },
): (gateways: readonly PlacedGateway[]) => readonly PlacedGateway[] {
  const known = new WeakMap<PlacedGateway, { readonly key: string; readonly result: PlacedGateway }>();
  const localPorts = new Map(map.map(({ listenerPort, localPort }) => [listenerPort, localPort]));
  const placeOf = ({ port, protocol }: Reserved): Place => {
    const localPort = localPorts.get(port) ?? port;
    // A listener that is assigned any free port cannot collide.
    const name = localPort === 0 ? `free for ${port}` : localPort;
    return { key: `${transportOf(protocol)}/${name}`, localPort };
  };
  const flags = new Map(taken.map(({ port, flag }) => [`TCP/${port}`, flag]));
  return (gateways) => {
    const holders = new Map<string, Holder>(
      reserved.map((one) => [
        placeOf(one).key,
        { port: one.port, family: familyOf(one.protocol), by: "the Ingresses", hosts: new Map() },
      ]),
    );
    const sockets: Sockets = { holders, closed: new Map(), placeOf, flagOf: ({ key }) => flags.get(key) };
    return gateways.map((planned) => {
      if (!planned.placement.inShared) return planned;
      const refusals = findRefusals(planned, sockets);
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
  { holders, closed, placeOf, flagOf }: Sockets,
): ReadonlyMap<string, ConditionReason> {
  const by = `Gateway ${nameOf(refOf(placed.gateway))}`;
  const refusals = new Map<string, ConditionReason>();
  const unavailable = (id: string, message: string): void =>
    void refusals.set(id, { reason: "PortUnavailable", message });
  for (const { id, port, protocol, hostname, serves, closes } of listenersOf(placed)) {
    if (!(serves || closes) || protocol === undefined) continue;
    const family = familyOf(protocol);
    const place = placeOf({ port, protocol });
    const flag = flagOf(place);
    const name = `${port} ${hostname.host}`;
    const closer = family === "tls" ? closed.get(name) : undefined;
    const belongsTo = (owner: string): ConditionReason => ({
      reason: "HostnameConflict",
      message: `Host ${hostname.host} on port ${port} belongs to ${owner}`,
    });
    if (closes) {
      // It needs no port, so it only leaves its name to an older Gateway, and everything to another protocol.
      const holder = holders.get(place.key) ?? { port, family, hosts: new Map<string, string>() };
      const owner = closer ?? holder.hosts.get(hostname.host) ?? by;
      if (owner !== by || holder.port !== port || holder.family !== family)
        refusals.set(id, belongsTo(owner));
      else closed.set(name, by);
      continue;
    }
    if (flag !== undefined) {
      unavailable(id, `Port ${place.localPort} of this machine is used by ${flag}`);
      continue;
    }
    const holder = holders.get(place.key) ?? { port, family, by, hosts: new Map<string, string>() };
    holders.set(place.key, holder);
    const owner = closer ?? holder.hosts.get(hostname.host) ?? by;
    if (holder.port !== port) {
      const whose = holder.by === by ? "" : ` of ${holder.by}`;
      const why = `Port ${place.localPort} of this machine already accepts the connections for port ${holder.port}${whose}`;
      unavailable(id, `${why}: --port-map must give each of them a port of its own`);
    } else if (holder.family !== family) {
      unavailable(id, `Port ${port} is already used by ${holder.by} with another protocol`);
    } else if (owner !== by && !hasHostnames(family)) {
      unavailable(id, `Port ${port} belongs to ${owner}`);
    } else if (owner !== by) {
      refusals.set(id, belongsTo(owner));
    } else holder.hosts.set(hostname.host, by);
  }
  return refusals;
}

function refuse(planned: PlacedGateway, refusals: ReadonlyMap<string, ConditionReason>): PlacedGateway {
  return withListeners(planned, (listener) => {
    const refusal = refusals.get(listener.id);
    if (refusal === undefined) return listener;
    if (listener.closes) return { ...listener, closes: false };
    return refusal.reason === "PortUnavailable"
      ? { ...listener, unaccepted: refusal, serves: false }
      : { ...listener, conflict: refusal, serves: false };
  });
}
