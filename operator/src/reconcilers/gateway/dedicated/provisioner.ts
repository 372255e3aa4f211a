import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import type { Build } from "../../../build/table-builder.ts";
import type { Fleet } from "../../../discovery/fleet.ts";
import { type ApiClient, describeApiError } from "../../../sources/kubernetes/api-client.ts";
import {
  pathOfProvisioned,
  type Provisioned,
  type ProvisionedKind,
  type ProvisionedObjects,
} from "../../../sources/kubernetes/provisioned-objects.ts";
import type { DedicatedGateway } from "../../../translate/gateway/dedicated/gateway.ts";
import type { Manifest } from "../../../translate/gateway/dedicated/plan.ts";
import { createLookup } from "../../../world.ts";
import type { Reconciler } from "../../reconciler.ts";
import type { Handover } from "../handover.ts";
import type { Notes } from "../notes.ts";
import { createApplier } from "./applier.ts";
import { createFinalizerKeeper, finalizer } from "./finalizer.ts";
import type { TrustCopies } from "./trust.ts";

export type ProvisionerOptions = {
  readonly client: ApiClient;
  readonly controllerName: string;
  readonly provisioned: ProvisionedObjects;
  readonly trust: Pick<TrustCopies, "ensure">;
  readonly handover: Pick<Handover, "isDone">;
  readonly fleet: Pick<Fleet, "subscribe">;
  /** The reasons why the objects of Gateways could not be created, by Gateway (`namespace/name`), for its status. */
  readonly failures: Notes<string>;
  /** The API server's reason for refusing an address that a Gateway requests. */
  readonly refusals: Notes<string>;
  /** Messages about objects that have another owner, by Gateway, for its status. */
  readonly taken: Notes<string>;
};

/**
 * Creates the objects of Gateways in their namespaces, restores changed ones, and deletes those that a Gateway no
 * longer needs, before the Gateway itself is deleted (docs/dedicated-gateways.md, "Objects").
 */
export function provisioner(options: ProvisionerOptions): Reconciler {
  const { client, controllerName, provisioned, trust, handover, fleet, failures, refusals, taken } = options;
  let lastBuild: Build | undefined;
  const applier = createApplier({ client, controllerName, provisioned, refusals, taken });
  const finalizers = createFinalizerKeeper(client, finalizer);

  const provide = async (
    { gateway, objects, keepsService }: DedicatedGateway,
    { world }: Build,
    signal: AbortSignal,
  ): Promise<Result<string>> => {
    const held = await finalizers.add(gateway, signal);
    if (!held.ok) return held;
    const trusted = await trust.ensure(gateway.metadata.namespace, world, signal);
    if (!trusted.ok) return trusted;
    const applied = await applier.apply(objects, signal);
    if (!applied.ok) return applied;
    const others = notAmong(objects, madeFor(gateway)).filter(
      ({ kind }) => !(keepsService && kind === "Service"),
    );
    const pruned = await removeAll(others, signal);
    return pruned.ok ? applied : pruned;
  };

  /** The objects that were created for exactly this Gateway, not for an earlier one of the same name. */
  const madeFor = ({ metadata: { namespace, name, uid } }: ObjectOf<"Gateway">): readonly Provisioned[] =>
    provisioned
      .of(`${namespace}/${name}`)
      .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) === true);

  const removeAll = async (objects: readonly Provisioned[], signal: AbortSignal): Promise<Result<string>> => {
    for (const { kind, metadata } of inOrderOfRemoval(objects)) {
      const { namespace = "", name, uid } = metadata;
      const deleted = await client.call(
        pathOfProvisioned({ kind: kind as ProvisionedKind, namespace, name }),
        {
          method: "DELETE",
          body: { preconditions: { uid }, propagationPolicy: "Background" },
          signal,
        },
      );
      if (!deleted.ok && deleted.error.status !== 404 && deleted.error.status !== 409) {
        return problem(`${kind} ${namespace}/${name}: ${describeApiError(deleted.error)}`);
      }
    }
    return ok(objects.length === 0 ? "unchanged" : "deleted");
  };

  /** Deletes the objects of a Gateway that needs no dedicated ones, except its identity, and removes its finalizer. */
  const release = async (
    name: string,
    identity: Manifest | undefined,
    { world }: Build,
    signal: AbortSignal,
  ): Promise<Result<string>> => {
    const kept = identity === undefined ? [] : [identity];
    const applied = await applier.apply(kept, signal);
    if (!applied.ok) return applied;
    const gateway = findGateway(world, name);
    const present = gateway === undefined ? provisioned.of(name) : madeFor(gateway);
    const removed = await removeAll(notAmong(kept, present), signal);
    if (!removed.ok) return removed;
    taken.set(name, undefined);
    if (gateway !== undefined && !isForeign(gateway, world, controllerName)) {
      const freed = await finalizers.remove(gateway, signal);
      if (!freed.ok) return freed;
    }
    return removed.value === "unchanged" ? applied : removed;
  };

  const reconcile: Reconciler["reconcile"] = async (name, { build, signal }) => {
    // Until the existing objects are known, nothing is created or deleted.
    if (!provisioned.isListed()) return ok("waiting");
    const dedicated = findByName(build.translation.dedicated, name);
    const isGoing = dedicated?.gateway.metadata.deletionTimestamp !== undefined;
    if (isHeld(name, build)) return ok("held");
    if (dedicated === undefined || isGoing) return release(name, findIdentity(build, name), build, signal);
    switch (dedicated.state) {
      case "wanted":
        return provide(dedicated, build, signal);
      case "held":
        return ok("held");
      case "leaving": {
        const status = build.translation.gatewayStatuses.gateways.find(
          ({ object }) => object === dedicated.gateway,
        );
        if (status === undefined || !handover.isDone(status, build.world)) return ok("waiting");
        return release(name, findIdentity(build, name), build, signal);
      }
    }
  };

  /** Whether the objects of a Gateway are kept unchanged, because it is not known how the Gateway should be served. */
  const isHeld = (name: string, { world, translation }: Build): boolean => {
    const gateway = findGateway(world, name);
    if (gateway === undefined || gateway.metadata.deletionTimestamp !== undefined) return false;
    const status = translation.gatewayStatuses.gateways.find(({ object }) => object === gateway);
    return status === undefined
      ? createLookup(world)("GatewayClass", "", gateway.spec.gatewayClassName) === undefined
      : status.placement.mode === undefined;
  };

  const reconciler: Reconciler = {
    controller: "provisioner",
    *dirty(previous, next) {
      lastBuild = next;
      yield* leavingOf(next);
      if (previous === undefined) yield* provisioned.gateways();
      for (const { gateway } of changed(previous?.translation.dedicated, next.translation.dedicated)) {
        yield nameOf(refOf(gateway));
      }
      for (const { metadata } of changed(previous?.translation.identities, next.translation.identities)) {
        yield ownerOf(metadata);
      }
      if (
        previous?.world.Gateway === next.world.Gateway &&
        previous.world.GatewayClass === next.world.GatewayClass
      )
        return;
      for (const gateway of next.world.Gateway) {
        if (gateway.metadata.finalizers?.includes(finalizer) === true) yield nameOf(refOf(gateway));
      }
    },
    subscribe(look) {
      const unsubscribe = [
        provisioned.subscribe((gateway) => {
          if (gateway !== undefined) return look(gateway);
          // Gateways without objects have waited for the lists as well.
          for (const name of lastBuild === undefined ? [] : reconciler.dirty(undefined, lastBuild))
            look(name);
        }),
        fleet.subscribe(() => {
          for (const name of lastBuild === undefined ? [] : leavingOf(lastBuild)) look(name);
        }),
      ];
      return () => unsubscribe.forEach((end) => end());
    },
    async reconcile(name, context) {
      const result = await reconcile(name, context);
      failures.set(name, result.ok ? undefined : result.error.message);
      return result;
    },
  };
  return reconciler;
}

const leavingOf = ({ translation }: Build): readonly string[] =>
  translation.dedicated
    .filter(({ state }) => state === "leaving")
    .map(({ gateway }) => nameOf(refOf(gateway)));

/** The entries that only one of two lists has. */
function changed<T>(before: readonly T[] = [], after: readonly T[]): readonly T[] {
  const known = new Set(before);
  const present = new Set(after);
  return [...before.filter((one) => !present.has(one)), ...after.filter((one) => !known.has(one))];
}

const ownerOf = ({ namespace, ownerReferences }: Manifest["metadata"]): string =>
  `${namespace}/${ownerReferences[0]?.name ?? ""}`;

const findIdentity = ({ translation }: Build, name: string): Manifest | undefined =>
  translation.identities.find(({ metadata }) => ownerOf(metadata) === name);

const findByName = (dedicated: readonly DedicatedGateway[], name: string): DedicatedGateway | undefined =>
  dedicated.find(({ gateway }) => nameOf(refOf(gateway)) === name);

const findGateway = (world: Build["world"], name: string): ObjectOf<"Gateway"> | undefined => {
  const [namespace = "", gateway = ""] = name.split("/");
  return createLookup(world)("Gateway", namespace, gateway);
};

/** Whether another controller serves a Gateway, whose finalizer must then not be removed here. */
function isForeign({ spec }: ObjectOf<"Gateway">, world: Build["world"], controllerName: string): boolean {
  const gatewayClass = createLookup(world)("GatewayClass", "", spec.gatewayClassName);
  return gatewayClass !== undefined && gatewayClass.spec.controllerName !== controllerName;
}

const keyOf = ({
  kind,
  metadata: { namespace, name },
}: {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): string => `${kind}/${namespace}/${name}`;

function notAmong(wanted: readonly Manifest[], present: readonly Provisioned[]): readonly Provisioned[] {
  const keys = new Set(wanted.map(keyOf));
  return present.filter((object) => !keys.has(keyOf(object)));
}

/** Sorts objects for deletion, the Service last: while it exists, a new leader knows what is left to delete. */
const inOrderOfRemoval = (objects: readonly Provisioned[]): readonly Provisioned[] =>
  [...objects].sort((a, b) => Number(a.kind === "Service") - Number(b.kind === "Service"));
