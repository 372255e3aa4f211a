/**
 * The note about the class of written objects, which is not written. It belongs to the installation: Helm would refuse
 * to install the chart if the class had been applied before.
 */
import type { World } from "@svc-gateway/operator/world.ts";

/** Describes how to provide the class and how `check` finds it; nothing if the manifests contain it. */
export const classTodo = (
  kind: "IngressClass" | "GatewayClass",
  name: string,
  world: Pick<World, "IngressClass" | "GatewayClass">,
): readonly string[] =>
  world[kind].some(({ metadata }) => metadata.name === name)
    ? []
    : [
        `${kind} ${name} must exist in the cluster; the chart creates it. To check the manifests with it: kubectl get ${kind.toLowerCase()} ${name} --output yaml | svc-gateway check FOLDER -`,
      ];
