/**
 * The Services that provide Gateways of the shared proxies with an address. See docs/gateway-api.md, "Shared
 * proxies".
 */
import type { ObjectOf } from "../../../api/kinds.ts";
import { memo } from "../../incremental/memo.ts";
import type { VipSettings } from "../../settings.ts";
import { requestedAddress } from "../addresses.ts";
import { infrastructureOf } from "../infrastructure.ts";
import { transportOf } from "../kinds.ts";
import { listenersOf, type PlannedGateway } from "../listeners/gateways.ts";
import { ownLabels, vipComponent, vipName } from "../names.ts";
import type { PlacedGateway } from "./placement.ts";
import { portsOf, type Bindings } from "./ports.ts";

/** A Service as it is applied. Fields that are not set here belong to others. */
export type VipService = {
  readonly apiVersion: "v1";
  readonly kind: "Service";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly type: "LoadBalancer" | "ClusterIP";
    readonly clusterIP?: string;
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly {
      readonly name: string;
      readonly protocol: "TCP" | "UDP";
      readonly port: number;
      readonly targetPort: number;
    }[];
  };
};

/** The Service of a Gateway, and how it is reconciled. */
export type Vip = {
  readonly gateway: ObjectOf<"Gateway">;
  readonly service: VipService;
  /**
   * `wanted`: the Service is created and kept up to date. `leaving`: the same, until the dedicated proxies of
   * the Gateway serve. `held`: it is not changed, because the request of the Gateway cannot be fulfilled, or
   * because none of its listeners serves at present. It is not deleted, because a released address might never
   * be assigned again.
   */
  readonly state: "wanted" | "leaving" | "held";
};

/** Plans the Service of each Gateway. There is none if no internal port could be assigned. */
export function createVipPlanner(
  settings: VipSettings,
): (gateway: PlacedGateway, ports: Bindings) => Vip | undefined {
  const ofGateway = memo((placed: PlacedGateway) => memo((ports: Bindings) => plan(placed, ports, settings)));
  return (placed, ports) => {
    // The API server rejects a Service without ports, so a Gateway without serving listeners can only keep an
    // existing one.
    const hasNoRoom =
      ports.size === 0 && (portsOf(placed).length > 0 || placed.placement.mode === "dedicated");
    return hasNoRoom ? undefined : ofGateway(placed)(ports);
  };
}

/** The transports of the serving listeners of a port, TCP first. */
export function transportsOn(gateway: PlannedGateway, port: number): readonly ("TCP" | "UDP")[] {
  const used = new Set(
    listenersOf(gateway)
      .filter((listener) => listener.serves && listener.port === port)
      .map(({ protocol }) => (protocol === undefined ? "TCP" : transportOf(protocol))),
  );
  return (["TCP", "UDP"] as const).filter((transport) => used.has(transport));
}

function plan(
  placed: PlacedGateway,
  ports: Bindings,
  { namespace, selector, serviceType }: VipSettings,
): Vip {
  const { gateway, placement } = placed;
  const { annotations, labels } = infrastructureOf(gateway);
  const { pinned: clusterIP, isInternal, unusable } = requestedAddress(gateway);
  const service: VipService = {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: vipName(gateway),
      namespace,
      labels: { ...labels, ...ownLabels(gateway, vipComponent) },
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      type: isInternal ? "ClusterIP" : serviceType,
      ...(clusterIP !== undefined && { clusterIP }),
      selector,
      ports: [...ports].flatMap(([port, targetPort]) =>
        transportsOn(placed, port).map((protocol) => ({
          name: protocol === "UDP" ? `port-${port}-udp` : `port-${port}`,
          protocol,
          port,
          targetPort,
        })),
      ),
    },
  };
  const isHeld = placement.mode === undefined || unusable !== undefined || ports.size === 0;
  return {
    gateway,
    service,
    state: isHeld ? "held" : placement.mode === "dedicated" ? "leaving" : "wanted",
  };
}
