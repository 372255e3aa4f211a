import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../../api/object.ts";
import type { Build } from "../../build/table-builder.ts";
import { describeApiError, type ApiClient } from "../../sources/kubernetes/api-client.ts";
import type { ParentlessSet } from "../../translate/gateway/listeners/parentless-sets.ts";
import { memo } from "../../translate/incremental/memo.ts";
import { createLookup } from "../../world.ts";
import { mergeConditions } from "../../write/conditions.ts";
import { wroteConditions } from "../../write/field-owners.ts";
import type { StatusChange, StatusTarget } from "../../write/status-writer.ts";
import type { Reconciler } from "../reconciler.ts";

type ListenerSet = ObjectOf<"ListenerSet">;

type Release = Pick<StatusTarget, "change" | "confirm">;

const types = ["Accepted", "Programmed"] as const;

/**
 * Extends the reconciler of ListenerSets: the status of a set that this controller no longer serves does not continue
 * to report that it does (docs/gateway-api.md, "ListenerSets without a Gateway"). A status has no controller name, so
 * only conditions that this program was the last to write are replaced.
 */
export function withReleases(reconciler: Reconciler, client: Pick<ApiClient, "call">): Reconciler {
  /** The sets (`namespace/name`) that were served and no longer are, until their release has been written. */
  const left = new Set<string>();
  const releaseOf = memo((set: ParentlessSet) => releaseWithoutGateway(set, client));
  const indexOf = memo((sets: readonly ParentlessSet[]) => new Map(sets.map((one) => [one.object, one])));
  return {
    ...reconciler,
    dirty(previous, next) {
      if (previous === undefined) left.clear();
      const { removed, added } = listChanges(servedBy(previous), servedBy(next));
      for (const { object } of removed) left.add(nameOf(refOf(object)));
      for (const { object } of added) left.delete(nameOf(refOf(object)));
      const parentless = listChanges(parentlessIn(previous), parentlessIn(next)).added;
      return new Set([
        ...reconciler.dirty(previous, next),
        ...parentless.map(({ object }) => nameOf(refOf(object))),
      ]);
    },
    async reconcile(name, context) {
      const { build, statuses, signal } = context;
      const [namespace = "", setName = ""] = name.split("/");
      const object = createLookup(build.world)("ListenerSet", namespace, setName);
      // For a set that is not served, this writes nothing, but no longer records the set as waiting for proxies.
      const reconciled = await reconciler.reconcile(name, context);
      if (object === undefined) left.delete(name);
      const parentless = object && indexOf(parentlessIn(build)).get(object);
      if (object === undefined || (parentless === undefined && !left.has(name))) return reconciled;
      const { uid } = object.metadata;
      const release = parentless === undefined ? releaseToAnother(object) : releaseOf(parentless);
      const written = await statuses.write({ kind: "ListenerSet", name, uid, ...release }, signal);
      if (written.ok) left.delete(name);
      return written;
    },
  };
}

const servedBy = (build: Build | undefined) => build?.translation.gatewayStatuses.listenerSets ?? [];
const parentlessIn = (build: Build | undefined): readonly ParentlessSet[] =>
  build?.translation.gatewayStatuses.parentlessSets ?? noSets;
const noSets: readonly ParentlessSet[] = [];

/**
 * The release of a set whose Gateway does not exist. The API server is asked again, because the world also lacks
 * Gateways that are too large for the memory of their namespace.
 */
function releaseWithoutGateway({ object, gateway }: ParentlessSet, client: Pick<ApiClient, "call">): Release {
  const { namespace, name } = gateway;
  const message = `Gateway ${nameOf(gateway)} of spec.parentRef does not exist; the listeners are not served`;
  return {
    change: refuse(object, message, ({ status }) => status === "True" || status === "False"),
    async confirm(stored, signal): Promise<Result<boolean>> {
      // A newer version, which may name another Gateway, is decided after the next build.
      const isSame = stored.metadata.generation === object.metadata.generation;
      if (!isSame || !wroteConditions(stored, types)) return ok(false);
      const path = `/apis/${object.apiVersion}/namespaces/${namespace}/gateways/${name}`;
      const found = await client.call<KubeObject>(path, { signal });
      if (found.ok) return ok(false);
      return found.error.status === 404 ? ok(true) : problem(describeApiError(found.error));
    },
  };
}

/**
 * The release of a set that names another parent now, which another controller may serve. Conditions for the present
 * generation are those of that controller. If the set itself has not changed, because its Gateway has another class
 * now, the two cannot be distinguished, and nothing is written, as in the status of that Gateway.
 */
function releaseToAnother(object: ListenerSet): Release {
  const { generation = 0, namespace } = object.metadata;
  const { kind = "Gateway", namespace: parentNamespace = namespace, name } = object.spec.parentRef;
  const parent = `${kind} ${parentNamespace}/${name}`;
  const message = `${parent} of spec.parentRef is not served by this controller, which therefore no longer serves the listeners`;
  const isOlder = ({ observedGeneration }: PresentCondition): boolean =>
    typeof observedGeneration === "number" && observedGeneration < generation;
  return {
    change: refuse(object, message, isOlder),
    confirm: (stored) => Promise.resolve(ok(wroteConditions(stored, types))),
  };
}

type PresentCondition = {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly observedGeneration?: unknown;
};

/** Refuses a set and drops the statuses of its listeners, if the present condition `Accepted` can be that of this controller. */
const refuse =
  (
    { metadata: { generation } }: ListenerSet,
    message: string,
    canBeOurs: (accepted: PresentCondition) => boolean,
  ): StatusChange =>
  (status, nowMs) => {
    const { conditions: current, listeners } = (status ?? {}) as {
      readonly conditions?: unknown;
      readonly listeners?: unknown;
    };
    const present = Array.isArray(current) ? (current as readonly PresentCondition[]) : [];
    const accepted = present.find(({ type }) => type === "Accepted");
    if (accepted === undefined || !canBeOurs(accepted)) return {};
    return {
      conditions: mergeConditions({
        current,
        desired: types.map((type) => ({ type, status: "False", reason: "ParentNotAccepted", message })),
        owned: new Set(types),
        generation,
        nowMs,
      }),
      ...(Array.isArray(listeners) && listeners.length > 0 && { listeners: [] }),
    };
  };
