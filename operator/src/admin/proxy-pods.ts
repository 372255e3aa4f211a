import operatorModule, { type ResourceEvent } from "@dot-i/k8s-operator";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";

/** A proxy pod as shown in the fleet document. */
export type ProxyPod = {
  readonly name: string;
  readonly namespace: string;
  readonly ip: string | null;
  readonly adminPort: number;
  readonly component: "shared-proxy" | "dedicated-proxy";
  /** The Gateway of a dedicated proxy, as `namespace/name`. */
  readonly gatewayRef: string | null;
  readonly node: string | null;
  /**
   * The phase as in `kubectl get pods`: `Terminating` for a pod that is being deleted, otherwise the phase of its
   * status.
   */
  readonly phase: string;
  readonly restarts: number;
  /** The creation time in RFC 3339. */
  readonly createdAt: string | null;
};

/** The proxy pods of the cluster, updated by watch events. */
export type ProxyPods = {
  /** The pods in the order of `namespace/name`. */
  list(): readonly ProxyPod[];
  onEvent(event: ResourceEvent): Promise<void>;
};

const defaultAdminPort = 8082;

type Pod = KubeObject & {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly {
      readonly args?: readonly string[];
      readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly restartCount?: number }[];
  };
};

export function createProxyPods(): ProxyPods {
  const pods = new Map<string, ProxyPod>();
  return {
    list: () => [...pods].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, pod]) => pod),
    onEvent({ type, object }) {
      // The object is plain JSON as sent by the API server for `pods`.
      const pod = object as unknown as Pod;
      const key = nameOf(refOf(pod));
      const proxy = type === operatorModule.ResourceEventType.Deleted ? undefined : toProxyPod(pod);
      if (proxy === undefined) pods.delete(key);
      else pods.set(key, proxy);
      return Promise.resolve();
    },
  };
}

/** Converts a pod; undefined if it is not one of our proxies. */
function toProxyPod({ metadata, spec, status }: Pod): ProxyPod | undefined {
  const labels = metadata.labels ?? {};
  const component = labels["app.kubernetes.io/component"];
  if (labels["app.kubernetes.io/name"] !== "svc") return undefined;
  if (component !== "shared-proxy" && component !== "dedicated-proxy") return undefined;
  const containers = spec?.containers ?? [];
  const gateway = gatewayArgument(containers) ?? labels["gateway.networking.k8s.io/gateway-name"];
  const gatewayNamespace = labels["gateway.svc-labs.dev/gateway-namespace"] ?? metadata.namespace;
  const ports = containers.flatMap((container) => container.ports ?? []);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    ip: status?.podIP ?? null,
    adminPort: ports.find(({ name }) => name === "admin")?.containerPort ?? defaultAdminPort,
    component,
    gatewayRef: component === "dedicated-proxy" && gateway ? `${gatewayNamespace}/${gateway}` : null,
    node: spec?.nodeName ?? null,
    phase: metadata.deletionTimestamp === undefined ? (status?.phase ?? "Unknown") : "Terminating",
    restarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    createdAt: metadata.creationTimestamp ?? null,
  };
}

const nameFlag = "--gateway-name=";

/**
 * The name of the Gateway with which the proxy was started. It is read from the arguments because a label has at most
 * 63 characters, and a name up to 253.
 */
const gatewayArgument = (containers: NonNullable<Pod["spec"]>["containers"] = []): string | undefined =>
  containers
    .flatMap(({ args = [] }) => args)
    .find((arg) => arg.startsWith(nameFlag))
    ?.slice(nameFlag.length);
