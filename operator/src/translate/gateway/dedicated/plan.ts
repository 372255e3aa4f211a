/**
 * The objects that a Gateway with dedicated proxies has in its namespace: a pure function of the Gateway and
 * its parameters. See docs/dedicated-gateways.md, "Objects".
 */
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { DedicatedSettings } from "../../settings.ts";
import type { RequestedAddress } from "../addresses.ts";
import { infrastructureOf } from "../infrastructure.ts";
import {
  controllerAnnotation,
  dedicatedComponent,
  dedicatedName,
  ownLabels,
  selectorLabels,
} from "../names.ts";
import type { JsonObject } from "./json.ts";
import type { Parameters } from "./parameters.ts";
import { podTemplateOf } from "./pod.ts";

/** An object as it is applied. Fields that are not set here belong to others. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind:
    "ServiceAccount" | "Service" | "Deployment" | "HorizontalPodAutoscaler" | "PodDisruptionBudget";
  readonly metadata: NamespacedName & {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly OwnerReference[];
  };
  readonly spec?: JsonObject;
  readonly automountServiceAccountToken?: false;
};

type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
  readonly blockOwnerDeletion: true;
};

/** A port that clients use. */
export type ServedPort = { readonly port: number; readonly protocol: "TCP" | "UDP" };

export type DedicatedInput = {
  readonly gateway: ObjectOf<"Gateway">;
  /** The ServiceAccount of the proxies. */
  readonly serviceAccount: string;
  readonly parameters: Parameters;
  readonly ports: readonly ServedPort[];
  readonly address: RequestedAddress;
};

export type DedicatedPlanOptions = DedicatedSettings & { readonly controllerName: string };

/**
 * Plans the objects of a Gateway, in the order in which they are created. Without a served port there is no
 * Service, because the API server rejects one without ports.
 */
export function planDedicated(
  { gateway, serviceAccount, parameters, ports, address }: DedicatedInput,
  image: string,
  options: DedicatedPlanOptions,
): readonly Manifest[] {
  const name = dedicatedName(gateway);
  const { replicas, autoscaling, serviceType } = parameters;
  const selector = selectorLabels(gateway, dedicatedComponent);
  const object = createMaker(gateway, dedicatedComponent, options.controllerName);
  const { pinned, isInternal } = address;
  return [
    {
      ...object("v1", "ServiceAccount", serviceAccount),
      automountServiceAccountToken: false,
    },
    ...(ports.length === 0
      ? []
      : [
          object("v1", "Service", name, {
            type: isInternal ? "ClusterIP" : serviceType,
            ...(pinned !== undefined && { clusterIP: pinned }),
            selector,
            ports: ports.map(({ port, protocol }) => ({
              name: protocol === "UDP" ? `port-${port}-udp` : `port-${port}`,
              protocol,
              port,
              targetPort: port,
            })),
          }),
        ]),
    object("apps/v1", "Deployment", name, {
      ...(autoscaling === undefined && { replicas }),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selector },
      template: podTemplateOf({ gateway, serviceAccount, parameters, image }, options),
    }),
    ...(autoscaling === undefined
      ? []
      : [
          object("autoscaling/v2", "HorizontalPodAutoscaler", name, {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
            minReplicas: autoscaling.minReplicas,
            maxReplicas: autoscaling.maxReplicas,
            metrics: [
              {
                type: "Resource",
                resource: {
                  name: "cpu",
                  target: { type: "Utilization", averageUtilization: autoscaling.targetCpuPercent },
                },
              },
            ],
          }),
        ]),
    // A budget for a single pod would only prevent nodes from being drained.
    ...((autoscaling?.minReplicas ?? replicas) < 2
      ? []
      : [
          object("policy/v1", "PodDisruptionBudget", name, {
            maxUnavailable: 1,
            selector: { matchLabels: selector },
          }),
        ]),
  ];
}

/**
 * The ServiceAccount that makes the infrastructure labels of a Gateway of the shared proxies appear in its
 * namespace.
 */
export const planIdentity = (
  gateway: ObjectOf<"Gateway">,
  name: string,
  component: string,
  controllerName: string,
): Manifest => ({
  ...createMaker(gateway, component, controllerName)("v1", "ServiceAccount", name),
  automountServiceAccountToken: false,
});

type Maker = (apiVersion: string, kind: Manifest["kind"], name: string, spec?: JsonObject) => Manifest;

function createMaker(gateway: ObjectOf<"Gateway">, component: string, controllerName: string): Maker {
  const { namespace, name: owner, uid } = gateway.metadata;
  const { annotations, labels } = infrastructureOf(gateway);
  return (apiVersion, kind, name, spec) => ({
    apiVersion,
    kind,
    metadata: {
      namespace,
      name,
      labels: { ...labels, ...ownLabels(gateway, component) },
      annotations: { ...annotations, [controllerAnnotation]: controllerName },
      ownerReferences:
        uid === undefined
          ? []
          : [
              {
                apiVersion: gateway.apiVersion,
                kind: gateway.kind,
                name: owner,
                uid,
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
    },
    ...(spec !== undefined && { spec }),
  });
}
