import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Listener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";

/** The ports that clients see, by whose routes serve them; a group that has no listener there is left out. */
export type PublicPorts = { readonly [Group in RouteGroup]?: number };

/** A listener, and whose it is: the `namespace/name` of a Gateway, or `ingress`. */
export type OwnedListener = Listener & { readonly owner: string; readonly publicPorts: PublicPorts };

const groupOf = (owner: string): RouteGroup => (owner === "ingress" ? "ingress" : "gateway");

/**
 * The sockets to accept on: those of all owners, each (port, protocol) once, sorted. Owners are expected to agree on
 * what a shared socket looks like; if they do not, the one whose name sorts first decides, apart from the port that clients
 * see, which Gateways and Ingresses have each for themselves, and from how connections begin and how many there may be: what
 * one of them says about that holds for all.
 */
export function listListeners(sets: ReadonlyMap<string, ListenerSet>): readonly OwnedListener[] {
  const byAddress = new Map<string, OwnedListener>();
  const owners = [...sets.keys()].sort();
  for (const owner of owners) {
    for (const listener of sets.get(owner)?.listeners ?? []) {
      const address = `${listener.port}/${listener.protocol}`;
      const known = byAddress.get(address);
      const { proxyProtocol, maxConnections } = listener;
      const ofConnections = {
        ...(proxyProtocol && { proxyProtocol }),
        ...(maxConnections !== undefined && { maxConnections }),
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
