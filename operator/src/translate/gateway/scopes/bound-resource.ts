/** The resource from whose acknowledgement a controller concludes that a proxy serves a Gateway. */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import { listenerKey } from "@svc-gateway/common/ir/keys.ts";
import type { Listener as BoundListener } from "@svc-gateway/common/ir/listener.ts";
import { encodeResource, sha256Hex, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import { compareText } from "../../age.ts";
import { memo } from "../../incremental/memo.ts";
import { transportOf } from "../kinds.ts";
import { listenersOf, type Listener, type PlannedGateway } from "../listeners/gateways.ts";
import type { Bindings } from "./ports.ts";

/**
 * The resource with the listeners that the proxies bind for a Gateway, one for each port and protocol;
 * undefined if there are none.
 */
export const boundResource: (gateway: PlannedGateway, ports: Bindings) => Resource | undefined = (() => {
  const ofGateway = memo((gateway: PlannedGateway) =>
    memo((ports: Bindings) => {
      const listeners = boundListeners(gateway, ports);
      if (listeners.length === 0) return undefined;
      const key = listenerKey(nameOf(refOf(gateway.gateway)));
      const generations = digestGenerations(gateway);
      return encodeResource(key, { listeners, ...(generations !== undefined && { generations }) });
    }),
  );
  return (gateway, ports) => ofGateway(gateway)(ports);
})();

function boundListeners(gateway: PlannedGateway, ports: Bindings): readonly BoundListener[] {
  const bound = new Map<string, BoundListener>();
  for (const { port: publicPort, protocol, serves } of listenersOf(gateway)) {
    const port = ports.get(publicPort);
    if (!serves || protocol === undefined || port === undefined) continue;
    const policy = transportOf(protocol) === "TCP" ? gateway.traffic?.get(publicPort) : undefined;
    bound.set(`${port} ${protocol}`, { port, publicPort, protocol, ...policy });
  }
  return [...bound.values()].sort((a, b) => a.port - b.port || compareText(a.protocol, b.protocol));
}

/** The hexadecimal digits of the digest: 64 bits, enough to tell the states of one Gateway apart. */
const digestLength = 16;

/**
 * A digest of the generations of the Gateway and of the ListenerSets that it accepts, which changes even if ports and
 * protocols do not. It also covers which listeners can be served, because a Secret or another object can change that
 * within a generation, and the UIDs, because a recreated object begins with generation 1 again. Undefined for a Gateway
 * without a generation.
 */
function digestGenerations({ gateway, own, sets }: PlannedGateway): string | undefined {
  if (gateway.metadata.generation === undefined) return undefined;
  const groups = [own, ...sets].filter(({ refusal }) => refusal === undefined);
  const states = groups.map(({ owner: { metadata }, listeners }) => [
    metadata.uid ?? null,
    metadata.generation ?? null,
    listeners.filter(isServable).map(({ name }) => name),
  ]);
  return sha256Hex(canonicalJson(states)).slice(0, digestLength);
}

/** Whether proxies serve the listener once it has a port. Without a certificate it only closes connections. */
const isServable = ({ serves, tlsMode, certificates }: Listener): boolean =>
  serves && (tlsMode !== "terminate" || certificates.length > 0);
