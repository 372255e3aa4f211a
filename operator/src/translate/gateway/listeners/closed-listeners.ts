/** The listeners of a Gateway that an invalid policy closes. See docs/standalone.md, "Objects that protect". */
import { closureOf } from "../../closures.ts";
import { memo } from "../../incremental/memo.ts";
import { transportOf } from "../kinds.ts";
import { listenersOf, type Listener, type PlannedGateway } from "./gateways.ts";

type ClosedListener = Pick<Listener, "id"> & { readonly belowHttp: boolean };

/**
 * The closed listeners. For a Gateway these are all of its listeners, or those that share a port with a
 * listener that the policy names, because the beginning of a connection is handled before a listener is chosen.
 * For a ListenerSet these are all of its listeners.
 */
export const closedListeners = memo((planned: PlannedGateway): readonly ClosedListener[] => {
  const { gateway, own, sets } = planned;
  const ofGateway = closureOf(gateway);
  const named = own.listeners.filter(({ name }) => ofGateway?.sections?.has(name) === true);
  const ports = new Set(named.map(({ port }) => port));
  const isClosed = ({ port, protocol }: Listener): boolean =>
    protocol !== undefined &&
    transportOf(protocol) === "TCP" &&
    (ofGateway?.sections === undefined || ports.has(port));
  const closed: ClosedListener[] = [];
  if (ofGateway !== undefined) {
    const { belowHttp } = ofGateway;
    closed.push(
      ...listenersOf(planned)
        .filter(isClosed)
        .map(({ id }) => ({ id, belowHttp })),
    );
  }
  for (const { owner, listeners } of sets) {
    const ofSet = closureOf(owner);
    if (ofSet === undefined) continue;
    closed.push(...listeners.map(({ id }) => ({ id, belowHttp: ofSet.belowHttp })));
  }
  return closed;
});
