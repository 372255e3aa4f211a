/** Decides which listeners a route attaches to. See docs/gateway-api.md, "Attaching routes". */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { HTTPRouteParentRef as ParentRef } from "../../../api/generated/httproute.ts";
import type { ConditionReason } from "../../condition.ts";
import { noKindOfParent, noParent, parentNotFound } from "../../diagnostics/gateway.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import { quoteKind, withArticle } from "../../text.ts";
import { commonHosts } from "../hostnames.ts";
import { gatewayGroup, isMisnamedParent, type RouteKind } from "../kinds.ts";
import type { Listener, ListenerGroup, PlannedGateway } from "../listeners/gateways.ts";
import { requiresCertificate } from "../listeners/frontend-validation.ts";
import { admits } from "../listeners/namespaces.ts";
import type { CommonPlan } from "./route-plan.ts";

/** The objects that routes can name as a parent, by `<Kind>/<namespace>/<name>`. */
export type Parents = ReadonlyMap<string, Parent>;

type Parent = ListenerGroup & {
  /** Whether an external service authorizes every request of the Gateway. */
  readonly isGuarded: boolean;
};

/**
 * All Gateways and ListenerSets of this controller. The listeners of a ListenerSet belong to it, not to its Gateway.
 */
export const parentsOf = (gateways: readonly PlannedGateway[]): Parents =>
  new Map(
    gateways.flatMap(({ own, sets, guard }) =>
      [own, ...sets].map((group): [string, Parent] => {
        const { kind, metadata } = group.owner;
        return [
          `${kind}/${metadata.namespace}/${metadata.name}`,
          { ...group, isGuarded: guard !== undefined },
        ];
      }),
    ),
  );

/** The part of a route that attachment depends on. */
export type Attachable = {
  readonly kind: RouteKind;
  readonly namespace: string;
  /** The host names of the route; undefined if it uses those of the listener. */
  readonly hosts: readonly HostPattern[] | undefined;
  readonly parentRefs: readonly ParentRef[];
};

/** The result of one parent reference. */
export type Attachment = {
  readonly parentRef: ParentRef;
  /** The reason why the route is attached to no listener; undefined if it is attached. */
  readonly refusal: ConditionReason | undefined;
  readonly listeners: readonly { readonly listener: Listener; readonly hosts: readonly HostPattern[] }[];
  /** Whether the Gateway, or every one of the listeners, authenticates clients. */
  readonly isAuthenticated: boolean;
};

/** Returns one attachment for each reference to a parent of this controller. Other references are ignored. */
export function attach(route: Attachable, parents: Parents, view: View): readonly Attachment[] {
  return route.parentRefs.flatMap((parentRef): Attachment | readonly [] => {
    const { group = gatewayGroup, kind = "Gateway", namespace = route.namespace, name } = parentRef;
    if (group !== gatewayGroup) return [];
    const parent = parents.get(`${kind}/${namespace}/${name}`);
    return parent === undefined ? [] : attachTo(parent, parentRef, route, view);
  });
}

function attachTo(parent: Parent, parentRef: ParentRef, route: Attachable, view: View): Attachment {
  const none = (reason: string, message: string): Attachment => ({
    parentRef,
    refusal: { reason, message },
    listeners: [],
    isAuthenticated: true,
  });
  if (parent.refusal !== undefined) return none("NotAllowedByListeners", parent.refusal.message);
  const { sectionName, port } = parentRef;
  const named = parent.listeners.filter(
    (listener) =>
      (sectionName === undefined || listener.name === sectionName) &&
      (port === undefined || listener.port === port),
  );
  if (named.length === 0) return none("NoMatchingParent", describeMissing(parentRef));
  const open = named.filter(
    (listener) =>
      listener.kinds.includes(route.kind) &&
      admits(listener.namespaces, parent.owner.metadata.namespace, route.namespace, view),
  );
  if (open.length === 0) {
    return none(
      "NotAllowedByListeners",
      `No listener allows ${withArticle(route.kind)} from namespace ${route.namespace}`,
    );
  }
  const listeners = open
    .map((listener) => ({ listener, hosts: commonHosts(listener.hostname, route.hosts) }))
    .filter(({ hosts }) => hosts.length > 0);
  if (listeners.length > 0) {
    const isAuthenticated =
      parent.isGuarded ||
      listeners.every(
        ({ listener: { filters, validation } }) => filters.authenticates || requiresCertificate(validation),
      );
    return { parentRef, refusal: undefined, listeners, isAuthenticated };
  }
  return none("NoMatchingListenerHostname", "No hostname of the route matches the hostname of a listener");
}

function describeMissing({ sectionName, port }: ParentRef): string {
  const parts = [
    ...(sectionName === undefined ? [] : [`named ${sectionName}`]),
    ...(port === undefined ? [] : [`on port ${port}`]),
  ];
  return `The parent has no listener ${parts.join(" ")}`.trimEnd();
}

/**
 * Findings about parents that do not exist, and about a route that names none: no controller will ever serve it
 * there.
 */
export function findMissingParents(
  { ref, namespace: own, parentRefs }: Pick<CommonPlan, "ref" | "namespace" | "parentRefs">,
  view: View,
  isWatched: (namespace: string) => boolean,
): readonly Diagnostic[] {
  if (parentRefs.length === 0) return [noParent({ object: ref, field: "spec.parentRefs" })];
  return parentRefs.flatMap(({ group = gatewayGroup, kind = "Gateway", namespace = own, name }, index) => {
    const place = { object: ref, field: `spec.parentRefs[${index}]` };
    if (isMisnamedParent(group, kind)) return [noKindOfParent(place, quoteKind({ group, kind }))];
    if (group !== gatewayGroup || (kind !== "Gateway" && kind !== "ListenerSet")) return [];
    if (view.lookup(kind, namespace, name) !== undefined) return [];
    return [parentNotFound(place, `${kind} ${namespace}/${name}`, isWatched(namespace))];
  });
}
