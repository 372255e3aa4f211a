/** The Services that give Gateways of the shared proxies an address. See docs/gateway-api.md, "Shared proxies". */
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

/** A Service as it is applied: what is not named here is left to others. */
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

/** The Service of a Gateway, and what is done about it. */
export type Vip = {
  readonly gateway: ObjectOf<"Gateway">;
  readonly service: VipService;
  /**
   * `wanted`: it is made, and kept as it should be. `leaving`: likewise, until the Gateway's own proxies serve. `held`: it
   * stays as it is, because what the Gateway asks for cannot be, or because none of its listeners serves now: an address that
   * is given up may never come back.
   */
  readonly state: "wanted" | "leaving" | "held";
};

/** Remembers the Service of each Gateway; one whose ports have no room in the band has none. */
export function createVipPlanner(
  settings: VipSettings,
): (gateway: PlacedGateway, ports: Bindings) => Vip | undefined {
  const ofGateway = memo((placed: PlacedGateway) => memo((ports: Bindings) => plan(placed, ports, settings)));
  return (placed, ports) => {
    // The API server takes no Service without ports, so a Gateway of which nothing serves can only keep what it has.
    const hasNoRoom =
      ports.size === 0 && (portsOf(placed).length > 0 || placed.placement.mode === "dedicated");
    return hasNoRoom ? undefined : ofGateway(placed)(ports);
  };
}

/** The transports of the serving listeners of a port; TCP first. */
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
