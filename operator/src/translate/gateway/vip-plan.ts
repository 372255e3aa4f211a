/** The Services that give Gateways of the shared proxies an address. See docs/gateway-api.md, "Shared proxies". */
import type { ObjectOf } from "../../api/kinds.ts";
import { parseIpAddress } from "@svc-gateway/common/values/ip-address.ts";
import { memo } from "../memo.ts";
import type { PlannedGateway } from "./gateways.ts";
import { transportOf } from "./kinds.ts";
import { ownLabels, vipComponent, vipName } from "./names.ts";
import type { Bindings } from "./ports.ts";

/** What the operator of the gateway decides about these Services. */
export type VipSettings = {
  readonly namespace: string;
  /** Labels of the pods of the shared proxies. */
  readonly selector: Readonly<Record<string, string>>;
  readonly serviceType: "LoadBalancer" | "ClusterIP";
};

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

/** Remembers the Service of each Gateway; a Gateway without a port that serves has none. */
export function createVipPlanner(
  settings: VipSettings,
): (gateway: PlannedGateway, ports: Bindings) => VipService | undefined {
  const ofGateway = memo((planned: PlannedGateway) =>
    memo((ports: Bindings) => plan(planned, ports, settings)),
  );
  return (gateway, ports) => (ports.size === 0 ? undefined : ofGateway(gateway)(ports));
}

/** What the listeners of a port that serve are carried by; TCP first. */
function transportsOn({ own, sets }: PlannedGateway, port: number): readonly ("TCP" | "UDP")[] {
  const used = new Set(
    [own, ...sets]
      .flatMap(({ listeners }) => listeners)
      .filter((listener) => listener.serves && listener.port === port)
      .map(({ protocol }) => (protocol === undefined ? "TCP" : transportOf(protocol))),
  );
  return (["TCP", "UDP"] as const).filter((transport) => used.has(transport));
}

function plan(
  planned: PlannedGateway,
  ports: Bindings,
  { namespace, selector, serviceType }: VipSettings,
): VipService {
  const { gateway } = planned;
  const { annotations, labels } = gateway.spec.infrastructure ?? {};
  const clusterIP = pinnedAddress(gateway);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: vipName(gateway),
      namespace,
      labels: { ...labels, ...ownLabels(gateway, vipComponent) },
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      type: clusterIP === undefined ? serviceType : "ClusterIP",
      ...(clusterIP !== undefined && { clusterIP }),
      selector,
      ports: [...ports].flatMap(([port, targetPort]) =>
        transportsOn(planned, port).map((protocol) => ({
          name: protocol === "UDP" ? `port-${port}-udp` : `port-${port}`,
          protocol,
          port,
          targetPort,
        })),
      ),
    },
  };
}

/** The address that a Gateway asks for, which becomes the cluster IP of its Service. */
export function pinnedAddress({ spec }: ObjectOf<"Gateway">): string | undefined {
  const [address] = (spec.addresses ?? []).filter(
    ({ type = "IPAddress", value = "" }) => type === "IPAddress" && parseIpAddress(value).ok,
  );
  return address?.value;
}
