/** Defines a controller with Roles alone: the cluster-scoped objects that it assumes, and its limitations. */
import type { ControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import type { KubeObject } from "../api/object.ts";

/**
 * The limitations of `--disable-cluster-scope`, one sentence each: for the log, `status` and
 * docs/namespaced-installation.md, which a test compares.
 */
export const limitsWithoutClusterScope: readonly string[] = [
  "IngressClasses are not read: the Ingresses of the class in --ingress-class are served, those without a class are not, and defaults come from --ingress-class-parameters",
  "GatewayClasses are neither read nor written: the Gateways of the class in --gateway-class are served; the status, the parameters and the finalizer of the class are left alone",
  "Labels of Namespaces are not read: selectors of namespaces match the label kubernetes.io/metadata.name only",
  "Nodes are not read: Gateways whose Service is of type NodePort have no addresses in their status",
  "ClusterTrustBundles are not read: references to them are invalid",
  "Token reviews are not requested: the tokens of proxies are verified with the keys of the API server, and must be bound to a running pod",
  "--admin-auth and tokens of the cluster for the console are not available",
  "Events about objects without a namespace are not written",
];

/**
 * The classes that the settings name, as objects; empty without `--disable-cluster-scope`, because the classes are then
 * read.
 */
export function assumedObjects({
  disableClusterScope,
  controllerName,
  ingressClass,
  ingressClassParameters,
  gatewayClass,
}: Pick<
  ControllerSettings,
  "disableClusterScope" | "controllerName" | "ingressClass" | "ingressClassParameters" | "gatewayClass"
>): readonly KubeObject[] {
  if (!disableClusterScope) return [];
  const objects: (KubeObject & { readonly spec: object })[] = [];
  if (ingressClass !== undefined)
    objects.push({
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: ingressClass },
      spec: {
        controller: controllerName,
        ...(ingressClassParameters !== undefined && {
          parameters: {
            apiGroup: "ingress.svc-labs.dev",
            kind: "SvcIngressClassParameters",
            scope: "Namespace",
            ...ingressClassParameters,
          },
        }),
      },
    });
  if (gatewayClass !== undefined)
    objects.push({
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "GatewayClass",
      metadata: { name: gatewayClass },
      spec: { controllerName },
    });
  return objects;
}
