/** The listeners of a Gateway that an invalid policy closes. See docs/standalone.md, "Objects that protect". */
import { closureOf } from "../../closures.ts";
import { memo } from "../../incremental/memo.ts";
import { transportOf } from "../kinds.ts";
import { listenersOf, type Listener, type PlannedGateway } from "./gateways.ts";

type ClosedListener = Pick<Listener, "id"> & { readonly belowHttp: boolean };

/**
 * All of a Gateway, or those that share a port with one that is named, since how a connection begins is settled before a
 * listener is found; and all of a ListenerSet.
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
