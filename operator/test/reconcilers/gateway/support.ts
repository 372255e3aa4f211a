import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../../src/api/object.ts";
import { validateObject } from "../../../src/api/validate.ts";
import type { Build } from "../../../src/build/table-builder.ts";
import type { Fleet } from "../../../src/discovery/fleet.ts";
import { createGatewayAddressReader, type AddressesOf } from "../../../src/reconcilers/gateway/address.ts";
import type { Reconciler } from "../../../src/reconcilers/reconciler.ts";
import {
  defaultTranslateSettings,
  type TranslateSettings,
  type DedicatedSettings,
} from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld } from "../../../src/world.ts";
import { applyMergePatch } from "../../../src/write/merge-patch.ts";
import type { StatusTarget, StatusWriter } from "../../../src/write/status-writer.ts";

export const vips = {
  namespace: "svc-system",
  selector: { app: "proxy" },
  serviceType: "LoadBalancer",
} as const;

/** A reader of the addresses of Gateways, with these addresses of nodes and these refusals by the API server. */
export const addressesOf = (
  nodes: readonly string[] = [],
  refusals: ReadonlyMap<string, string> = new Map(),
  hasRoutability = false,
): AddressesOf =>
  createGatewayAddressReader({
    vips,
    ingressAddresses: () => [],
    nodeAddresses: () => nodes,
    refusals: { get: (name) => refusals.get(name) },
    hasRoutability: () => hasRoutability,
  });

/** The build of these manifests, with Services of their own for Gateways. */
export function buildOf(yaml: string, change: Partial<TranslateSettings> = {}): Build {
  const world = createWorld(objectsOf(yaml));
  return {
    world,
    translation: translate(world, { ...defaultTranslateSettings, gatewayVips: vips, ...change }),
  };
}

export function objectsOf(yaml: string): readonly KubeObject[] {
  return parseAllDocuments(yaml).map((document) => {
    const value = document.toJS() as KubeObject;
    const validated = validateObject(value);
    if (!validated.ok)
      throw new Error(`${value.kind} ${value.metadata.name}: ${JSON.stringify(validated.error)}`);
    return validated.value.object;
  });
}

/** A fleet of one proxy, which has bound all ports and acknowledges every resource until `stop` is called. */
export function acknowledgingFleet(): Pick<Fleet, "isProgrammed"> & { readonly stop: () => void } {
  const acknowledged = new Map<string, string>();
  let isStopped = false;
  return {
    isProgrammed({ resources }) {
      const asked = [...resources];
      if (!isStopped) for (const [key, hash] of asked) acknowledged.set(key, hash);
      return asked.every(([key, hash]) => acknowledged.get(key) === hash);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** The status that a reconciler writes when `status` exists; undefined if it writes none. */
export async function statusAfter(
  reconciler: Reconciler,
  build: Build,
  name: string,
  status: unknown = {},
): Promise<unknown> {
  let target: StatusTarget | undefined;
  const statuses: StatusWriter = {
    write(given) {
      target = given;
      return Promise.resolve({ ok: true, value: "written" });
    },
  };
  await reconciler.reconcile(name, { build, statuses, signal: new AbortController().signal });
  return target === undefined ? undefined : applyMergePatch(status, target.change(status, 0));
}

/** `Type=Status Reason@generation` of each condition. */
export const brief = (conditions: unknown): readonly string[] =>
  (
    conditions as readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly observedGeneration?: number;
    }[]
  ).map(
    ({ type, status, reason, observedGeneration }) => `${type}=${status} ${reason}@${observedGeneration}`,
  );

const classYaml = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: svc }
spec: { controllerName: svc-labs.dev/gateway-controller }
---
`;

export const gatewayYaml = `${classYaml}
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop, generation: 3, uid: uid-edge }
spec:
  gatewayClassName: svc
  listeners:
    - { name: http, port: 80, protocol: HTTP }
    - { name: odd, port: 81, protocol: SCTP }
`;

/** A ListenerSet of that Gateway. */
const setYaml = `
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: { name: more, namespace: shop, generation: 5, uid: uid-more }
spec:
  parentRef: { name: edge }
  listeners:
    - { name: second, port: 8080, protocol: HTTP }
`;

/** The Gateway with this ListenerSet. */
export const withSetYaml = `${gatewayYaml.replace(
  "gatewayClassName: svc",
  "gatewayClassName: svc\n  allowedListeners: { namespaces: { from: Same } }",
)}---${setYaml}`;

/** Gateways that precede it by name, and take all internal ports that are not mapped by a Service. */
export const portTakersYaml = Array.from({ length: 44 }, (_, index) =>
  JSON.stringify({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: `a${index}`, namespace: "shop" },
    spec: {
      gatewayClassName: "svc",
      listeners: Array.from({ length: 63 }, (_listener, port) => ({
        name: `p${port}`,
        port: 1000 + port,
        protocol: "HTTP",
      })),
    },
  }),
).join("\n---\n");

export const dedicatedSettings: DedicatedSettings = {
  image: "svc-gateway:1.0.0",
  podTemplate: {},
  discoveryEndpoint: "svc-controller-discovery.svc-system.svc:50051",
  bootstrapEndpoint: "svc-controller-discovery.svc-system.svc:50052",
  trustDomain: "cluster.local",
};

/** A Gateway with proxies of its own, and the bundle that they trust. */
export const dedicatedGatewayYaml = `${classYaml}
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop, generation: 3, uid: uid-edge, finalizers: [] }
spec:
  gatewayClassName: svc
  infrastructure:
    parametersRef: { group: gateway.svc-labs.dev, kind: SvcGatewayParameters, name: own }
  listeners:
    - { name: http, port: 80, protocol: HTTP }
---
apiVersion: gateway.svc-labs.dev/v1alpha1
kind: SvcGatewayParameters
metadata: { name: own, namespace: shop }
spec: { replicas: 1 }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: svc-discovery-trust, namespace: svc-system }
data: { ca.crt: the bundle }
`;

/** The Service of that Gateway, as the controller made it and the cluster completed it. */
export const vipYaml = (targetPort: number, ingress: string): string => `
apiVersion: v1
kind: Service
metadata:
  name: shop-edge-3788f37a-shared-gw
  namespace: svc-system
  uid: uid-vip
  labels:
    app.kubernetes.io/name: svc
    app.kubernetes.io/instance: edge
    app.kubernetes.io/managed-by: svc
    app.kubernetes.io/component: shared-gateway-vip
    gateway.networking.k8s.io/gateway-name: edge
    gateway.svc-labs.dev/gateway-namespace: shop
spec:
  type: LoadBalancer
  selector: { app: proxy }
  ports: [{ name: port-80, port: 80, protocol: TCP, targetPort: ${targetPort} }]
status: { loadBalancer: { ingress: ${ingress} } }
`;
