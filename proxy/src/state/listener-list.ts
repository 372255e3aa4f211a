import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Listener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";

/** The public ports of a socket by group of routes; a group without a listener on it is absent. */
export type PublicPorts = { readonly [Group in RouteGroup]?: number };

/** A listener with its owner: the `namespace/name` of a Gateway, or `ingress`. */
export type OwnedListener = Listener & { readonly owner: string; readonly publicPorts: PublicPorts };

const groupOf = (owner: string): RouteGroup => (owner === "ingress" ? "ingress" : "gateway");

/**
 * Lists the sockets to accept on: those of all owners, each (port, protocol) once, sorted. Owners are expected to agree
 * on the properties of a shared socket; if they do not, the owner whose name sorts first wins, with two exceptions.
 * Gateways and Ingresses have separate public ports. The PROXY protocol, the connection limit and the logging of
 * requests apply to all owners if any of them sets them.
 */
export function listListeners(sets: ReadonlyMap<string, ListenerSet>): readonly OwnedListener[] {
  const byAddress = new Map<string, OwnedListener>();
  const owners = [...sets.keys()].sort();
  for (const owner of owners) {
    for (const listener of sets.get(owner)?.listeners ?? []) {
      const address = `${listener.port}/${listener.protocol}`;
      const known = byAddress.get(address);
      const { proxyProtocol, maxConnections, observation } = listener;
      const ofConnections = {
        ...(proxyProtocol && { proxyProtocol }),
        ...(maxConnections !== undefined && { maxConnections }),
        ...(observation && { observation }),
      };
      const publicPorts = { [groupOf(owner)]: listener.publicPort, ...known?.publicPorts };
      byAddress.set(
        address,
        known === undefined
          ? { ...listener, owner, publicPorts }
          : { ...ofConnections, ...known, publicPorts },
      );
    }
  }
  return [...byAddress.values()].sort(
    (a, b) => a.port - b.port || (a.protocol < b.protocol ? -1 : a.protocol > b.protocol ? 1 : 0),
  );
}
