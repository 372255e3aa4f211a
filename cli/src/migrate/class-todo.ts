/**
 * The class of what is written. It belongs to the installation, not to the manifests: a class that is applied before the chart is
 * installed would make Helm refuse to install it.
 */
import type { World } from "@svc-gateway/operator/world.ts";

/** Where the class comes from, and how `check` finds it; nothing where the manifests have it. */
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
