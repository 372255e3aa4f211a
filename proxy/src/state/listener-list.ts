import type { Listener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";

/** A listener, and whose it is: the `namespace/name` of a Gateway, or `ingress`. */
export type OwnedListener = Listener & { readonly owner: string };

/**
 * The sockets to accept on: those of all owners, each (port, protocol) once, sorted. Owners are expected to agree on
 * what a shared socket looks like; if they do not, the one whose name sorts first decides, apart from how connections
 * begin and how many there may be: what one of them says about that holds for all.
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
      byAddress.set(address, known === undefined ? { ...listener, owner } : { ...ofConnections, ...known });
    }
  }
  return [...byAddress.values()].sort(
    (a, b) => a.port - b.port || (a.protocol < b.protocol ? -1 : a.protocol > b.protocol ? 1 : 0),
  );
}
