import { ok } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { ApiClient } from "../../sources/kubernetes/api-client.ts";
import { createLookup, type World } from "../../world.ts";
import type { Reconciler } from "../reconciler.ts";
import { classFinalizer, createFinalizerKeeper, hasFinalizer } from "./dedicated/finalizer.ts";

export type ClassFinalizerOptions = {
  readonly client: Pick<ApiClient, "call">;
  readonly controllerName: string;
};

/**
 * Keeps a finalizer on the classes of this controller that have Gateways, shared or dedicated: without its class, a
 * Gateway would immediately lose its proxies and its address (docs/gateway-api.md, "Classes"). Gateways of namespaces
 * that are read but not served count as well, because another controller may serve them.
 */
export function classFinalizerReconciler({ client, controllerName }: ClassFinalizerOptions): Reconciler {
  const finalizers = createFinalizerKeeper(client, classFinalizer);
  const isUsed = (name: string, { Gateway }: World): boolean =>
    Gateway.some(({ spec }) => spec.gatewayClassName === name);
  const isInLine = (one: ObjectOf<"GatewayClass">, used: ReadonlySet<string>): boolean =>
    hasFinalizer(one, classFinalizer) === used.has(one.metadata.name);
  return {
    controller: "gatewayclass-finalizer",
    *dirty(previous, { world }) {
      if (previous?.world.Gateway === world.Gateway && previous.world.GatewayClass === world.GatewayClass)
        return;
      const used = new Set(world.Gateway.map(({ spec }) => spec.gatewayClassName));
      for (const one of world.GatewayClass) {
        if (one.spec.controllerName === controllerName && !isInLine(one, used)) yield one.metadata.name;
      }
    },
    async reconcile(name, { build: { world }, signal }) {
      const found = createLookup(world)("GatewayClass", "", name);
      if (found === undefined || found.spec.controllerName !== controllerName) return ok("gone");
      if (!isUsed(name, world)) return finalizers.remove(found, signal);
      // The API server accepts no new finalizers on objects that are being deleted.
      return found.metadata.deletionTimestamp === undefined ? finalizers.add(found, signal) : ok("too late");
    },
  };
}
