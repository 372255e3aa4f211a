/** The routes of some kinds with the listeners that accept them, kept up to date with the World. */
import { hasChanges, noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf } from "../../../api/object.ts";
import type { World } from "../../../world.ts";
import { compareText } from "../../age.ts";
import { noServingListener } from "../../diagnostics/gateway.ts";
import type { Diagnostic } from "../../finding.ts";
import { createFindings } from "../../incremental/findings-list.ts";
import { changesOf, createGroups, createKeyedList } from "../../incremental/groups.ts";
import { memo, viewMemo } from "../../incremental/memo.ts";
import { createTracker } from "../../incremental/tracker.ts";
import type { View } from "../../incremental/view.ts";
import { createFitting } from "../../size/fitting.ts";
import { sizeKey, type LeftOut, type LeftOutObject } from "../../size/object-size.ts";
import type { RouteKind } from "../kinds.ts";
import type { Claim, ClaimedHost, ClaimsOfListener } from "../scopes/host-tables.ts";
import { findingsOfRoute } from "../status/findings.ts";
import { routeStatus, type RouteStatus } from "../status/object-status.ts";
import { attach, findMissingParents, type Attachment, type Parents } from "./attachment.ts";
import type { CommonPlan } from "./route-plan.ts";

/** A route with the listeners that accept it. */
export type AttachedRoute<Plan> = {
  readonly plan: Plan;
  readonly status: RouteStatus;
  /** The ids of the listeners that count the route as attached, without duplicates. */
  readonly listeners: readonly string[];
  readonly claims: readonly Claim<Plan>[];
  readonly diagnostics: readonly Diagnostic[];
  /** Returns the route reduced to what remains of it when it is left out of a snapshot. */
  readonly without: (leftOut: LeftOutObject) => AttachedRoute<Plan>;
};

/** All attached routes. The order does not depend on earlier Worlds, and unchanged values keep their identity. */
export type AttachedRoutes<Plan> = {
  readonly routes: readonly AttachedRoute<Plan>[];
  /** The statuses of routes with a parent of this controller. */
  readonly statuses: readonly RouteStatus[];
  /** Returns the number of routes that are attached to the listener with this id. */
  readonly attached: (listener: string) => number;
  /** The hosts that routes claim, by the id of the listener. */
  readonly claims: ReadonlyMap<string, ClaimsOfListener<Plan>>;
  readonly diagnostics: readonly Diagnostic[];
  /** The findings that follow from the statuses. */
  readonly statusDiagnostics: readonly Diagnostic[];
};

export type AttachedRoutesOptions<K extends RouteKind, Plan> = {
  /** Routes are listed by kind in this order. */
  readonly kinds: readonly K[];
  /** Reads a route, independent of its parents. */
  readonly plan: (route: ObjectOf<K>, view: View) => Plan;
  /** Whether objects of a namespace are served. */
  readonly isWatched: (namespace: string) => boolean;
  /** Reports whether a plan has anything to serve. */
  readonly serves: (plan: Plan) => boolean;
  /** Reduces a plan that would be too large in `copies` tables; returns other plans unchanged. */
  readonly fit: (plan: Plan, copies: number) => Plan;
  /** Reduces a plan to what remains of it when its route is left out of a snapshot. */
  readonly leaveOut: (plan: Plan, leftOut: LeftOutObject) => Plan;
};

/**
 * Keeps routes up to date with the World and with the listeners of Gateways. When a route changes, only its
 * previous and its current hosts are computed again; other listeners and hosts keep their identity.
 */
export function createAttachedRoutes<K extends RouteKind, Plan extends CommonPlan>({
  kinds,
  plan,
  serves,
  fit,
  isWatched,
  leaveOut,
}: AttachedRoutesOptions<K, Plan>): (
  world: World,
  parents: Parents,
) => {
  readonly planned: Changes<AttachedRoute<Plan>>;
  readonly finish: (leftOut: LeftOut) => AttachedRoutes<Plan>;
} {
  const planOf = viewMemo(plan);
  const keyOf = ({ kind, ref }: Plan): string => `${kinds.indexOf(kind as K)} ${nameOf(ref)}`;
  const trackers = kinds.map((kind) =>
    createTracker({
      inputs: (world) => world[kind],
      compute: (route: ObjectOf<K>, parents: Parents, view): AttachedRoute<Plan> => {
        const planned = planOf(route, view);
        const attachments = attach(planned, parents, view);
        const places = placesOf(attachments);
        const fitting = serves(planned) ? fit(planned, places.length) : planned;
        const missing = [
          ...findMissingParents(planned, view, isWatched),
          ...findIdleParents(planned, attachments),
        ];
        const attachedAs = (what: Plan): AttachedRoute<Plan> => ({
          ...attachedRoute(what, serves(what) ? places : [], attachments, missing),
          without: (leftOut) => attachedAs(leaveOut(fitting, leftOut)),
        });
        return attachedAs(fitting);
      },
    }),
  );
  const extraOf = memo((parents: Parents) => (): Parents => parents);
  const routes = createKeyedList((route: AttachedRoute<Plan>) => keyOf(route.plan));
  const ours = createKeyedList((route: AttachedRoute<Plan>) => keyOf(route.plan));
  const statusesOf = memo((list: readonly AttachedRoute<Plan>[]) => list.map(({ status }) => status));
  const findings = createFindings(({ key }: Finding) => key);
  const statusFindings = createFindings(({ key }: Finding) => key);
  const attached = createUseCounts();
  const claims = createListenerClaims<Plan>();

  const edit = (changes: Changes<AttachedRoute<Plan>>): void => {
    routes.edit(changes);
    ours.edit(changesOf(changes, (route) => (route.status.parents.length > 0 ? [route] : [])));
    findings.edit(
      changesOf(changes, (route) => [{ key: keyOf(route.plan), diagnostics: route.diagnostics, events: [] }]),
    );
    statusFindings.edit(
      changesOf(changes, (route) => [
        { key: keyOf(route.plan), diagnostics: findingsOfRoute(route.status), events: [] },
      ]),
    );
    for (const { listeners } of changes.removed) attached.remove(listeners);
    for (const { listeners } of changes.added) attached.add(listeners);
    claims.edit(changesOf(changes, (route) => route.claims));
  };

  const fitting = createFitting<AttachedRoute<Plan>>({
    keyOf: ({ plan: { ref } }) => sizeKey(ref),
    fit: (route, leftOut) => route.without(leftOut),
  });

  return (world, parents) => {
    const changes = trackers.map((track) => track(world, extraOf(parents)));
    const planned = {
      removed: changes.flatMap(({ removed }) => removed),
      added: changes.flatMap(({ added }) => added),
    };
    let unfinished: Changes<AttachedRoute<Plan>> = planned;
    const finish = (leftOut: LeftOut): AttachedRoutes<Plan> => {
      const fitted = fitting(unfinished, leftOut);
      unfinished = noChanges;
      if (hasChanges(fitted)) edit(fitted);
      return present();
    };
    return { planned, finish };
  };

  function present(): AttachedRoutes<Plan> {
    return {
      routes: routes.entries.values,
      statuses: statusesOf(ours.entries.values),
      attached: (listener) => attached.count(listener),
      claims: claims.byListener,
      diagnostics: findings.list.diagnostics,
      statusDiagnostics: statusFindings.list.diagnostics,
    };
  }
}

type Finding = { readonly key: string; readonly diagnostics: readonly Diagnostic[]; readonly events: [] };

/** The hosts that routes claim, by listener and host. */
function createListenerClaims<Plan extends CommonPlan>() {
  const hosts = createGroups(
    ({ listener, host }: Claim<Plan>) => `${listener.id} ${host.host}`,
    (claims): ClaimedHost<Plan> => {
      const [{ listener, host }] = claims;
      return { listener: listener.id, host, claims: claims.toSorted(compareClaims) };
    },
  );
  const ofListener = new Map<string, ReturnType<typeof createKeyedList<ClaimedHost<Plan>>>>();
  const byListener = new Map<string, SortedEntries<ClaimedHost<Plan>, string>>();
  return {
    byListener,
    edit(changes: Changes<Claim<Plan>>): void {
      const { removed, added } = hosts.edit(changes);
      const removedFrom = Map.groupBy(removed, ({ listener }) => listener);
      const addedTo = Map.groupBy(added, ({ listener }) => listener);
      for (const id of new Set([...removedFrom.keys(), ...addedTo.keys()])) {
        const list = ofListener.get(id) ?? createKeyedList(({ host }: ClaimedHost<Plan>) => host.host);
        list.edit({ removed: removedFrom.get(id) ?? [], added: addedTo.get(id) ?? [] });
        if (list.entries.keys.length === 0) {
          ofListener.delete(id);
          byListener.delete(id);
        } else {
          ofListener.set(id, list);
          byListener.set(id, list.entries);
        }
      }
    },
  };
}

/** Sorts the claims of one host into an order that does not depend on when they were added. */
const compareClaims = ({ plan: a }: Claim<CommonPlan>, { plan: b }: Claim<CommonPlan>): number =>
  compareText(a.age.key, b.age.key) || compareText(b.kind, a.kind);

/** Findings about parents that accept the route, but serve none of the listeners that do. */
const findIdleParents = (
  { ref, parentRefs }: CommonPlan,
  attachments: readonly Attachment[],
): readonly Diagnostic[] =>
  attachments
    .filter(({ listeners }) => listeners.length > 0 && listeners.every(({ listener }) => !listener.serves))
    .map(({ parentRef }) =>
      noServingListener({ object: ref, field: `spec.parentRefs[${parentRefs.indexOf(parentRef)}]` }),
    );

/** A host of a listener. */
type Place = Pick<Claim<CommonPlan>, "listener" | "host">;

/** The hosts of each serving listener that accepts the route, without duplicates. */
function placesOf(attachments: readonly Attachment[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const { listeners } of attachments) {
    for (const { listener, hosts } of listeners) {
      if (!listener.serves) continue;
      for (const host of hosts) places.set(`${listener.id} ${host.host}`, { listener, host });
    }
  }
  return [...places.values()];
}

function attachedRoute<Plan extends CommonPlan>(
  plan: Plan,
  places: readonly Place[],
  attachments: readonly Attachment[],
  missing: readonly Diagnostic[],
): Omit<AttachedRoute<Plan>, "without"> {
  const listeners = new Set<string>();
  if (!plan.isUnusable)
    for (const attachment of attachments)
      for (const { listener } of attachment.listeners) listeners.add(listener.id);
  return {
    plan,
    status: routeStatus(plan, attachments),
    listeners: [...listeners],
    claims: places.map((place) => ({ ...place, plan })),
    diagnostics:
      attachments.length === 0
        ? missing
        : [
            ...plan.diagnostics,
            ...(attachments.every(({ isAuthenticated }) => isAuthenticated) ? [] : plan.unlessAuthenticated),
            ...missing,
          ],
  };
}
