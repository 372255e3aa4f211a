/**
 * Listeners of one port that terminate TLS for the same server names (GEP-3567). See docs/gateway-api.md,
 * "Listeners".
 */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { ConditionReason } from "../../condition.ts";
import { memo } from "../../incremental/memo.ts";
import { anyHost } from "../../ingress/host.ts";
import { listenersOf, nameFor, type Listener, type PlannedGateway } from "./gateways.ts";

/**
 * The overlaps of listeners, by the id of the listener. Clients can share a connection between two listeners of
 * a port if the host name of one covers that of the other, or if a certificate of one is valid for a host of
 * the other. Only listeners that terminate TLS count: those that pass it through present no certificate.
 */
export const overlapsOf: (gateway: PlannedGateway) => ReadonlyMap<string, ConditionReason> = memo(
  (gateway) => {
    const overlaps = new Map<string, ConditionReason>();
    const secure = listenersOf(gateway).filter(({ serves, tlsMode }) => serves && tlsMode === "terminate");
    for (const ofPort of Map.groupBy(secure, ({ port }) => port).values()) {
      // Overlapping certificates are reported in preference to overlapping hostnames (Gateway API,
      // ListenerConditionOverlappingTLSConfig).
      findHostnames(ofPort, overlaps);
      findCertificates(ofPort, overlaps);
    }
    return overlaps;
  },
);

function findHostnames(listeners: readonly Listener[], overlaps: Map<string, ConditionReason>): void {
  const note = (listener: Listener, other: Listener): void => {
    if (overlaps.has(listener.id)) return;
    const message = `Host ${listener.hostname.host} overlaps with ${other.hostname.host} of ${nameFor(listener, other)}`;
    overlaps.set(listener.id, { reason: "OverlappingHostnames", message });
  };
  // No two serving listeners have the same host name.
  const byHost = new Map(listeners.map((listener) => [listener.hostname.host, listener]));
  for (const listener of listeners) {
    for (const host of widerHosts(listener.hostname)) {
      const wider = byHost.get(host);
      if (wider === undefined) continue;
      note(listener, wider);
      note(wider, listener);
    }
  }
}

/** The patterns that cover a host besides itself, the narrowest first. */
function* widerHosts({ kind, host }: HostPattern): Generator<string, void> {
  if (kind === "any") return;
  const start = kind === "wildcard" ? 2 : 0;
  for (let dot = host.indexOf(".", start); dot >= 0; dot = host.indexOf(".", dot + 1))
    yield `*${host.slice(dot)}`;
  yield anyHost.host;
}

/**
 * Finds overlapping certificates. Each name of a certificate and each host of a listener is inspected once,
 * however many listeners share it.
 */
function findCertificates(listeners: readonly Listener[], overlaps: Map<string, ConditionReason>): void {
  const reported = new Set<string>();
  const note = (listener: Listener, message: string): void => {
    if (reported.has(listener.id)) return;
    reported.add(listener.id);
    overlaps.set(listener.id, { reason: "OverlappingCertificates", message });
  };
  const wanting = listenersByName(listeners, ({ hostname }) => certificateNames(hostname));
  const holding = listenersByName(listeners, ({ certificates }) =>
    certificates.flatMap(({ names }) => [...names]),
  );
  for (const [name, holders] of holding) {
    const covered = wanting.get(name) ?? [];
    for (const holder of holders) {
      const other = covered.find((one) => one !== holder);
      if (other === undefined) continue;
      const host = `${other.hostname.host} of ${nameFor(holder, other)}`;
      note(holder, `A certificate of the listener is also valid for host ${host}`);
    }
    for (const listener of covered) {
      const other = holders.find((one) => one !== listener);
      if (other === undefined) continue;
      note(
        listener,
        `A certificate of ${nameFor(listener, other)} is also valid for host ${listener.hostname.host}`,
      );
    }
  }
}

/** The listeners by each name that they have, without duplicates. */
function listenersByName(
  listeners: readonly Listener[],
  namesOf: (listener: Listener) => readonly string[],
): ReadonlyMap<string, readonly Listener[]> {
  const found = new Map<string, Listener[]>();
  for (const listener of listeners) {
    for (const name of new Set(namesOf(listener))) {
      const having = found.get(name);
      if (having === undefined) found.set(name, [listener]);
      else having.push(listener);
    }
  }
  return found;
}

/** The certificate names that are valid for a host (RFC 6125 6.4). No name is valid for every host. */
function certificateNames({ kind, host }: HostPattern): readonly string[] {
  switch (kind) {
    case "any":
      return [];
    case "wildcard":
      return [host];
    case "exact":
      return [host, host.replace(/^[^.]+/, "*")];
  }
}
