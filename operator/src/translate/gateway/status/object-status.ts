/**
 * The desired statuses of Gateway API objects, as far as they follow from the objects themselves. Whether a listener
 * is programmed is known only to the controller, which asks the proxies. See docs/gateway-api.md, "Conditions".
 */
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { HTTPRouteParentRef as ParentRef } from "../../../api/generated/httproute.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import {
  conditionOf,
  reasonAt,
  type DesiredCondition,
  type Fault,
  type ConditionReason,
} from "../../condition.ts";
import { gatewayGroup, type RouteKind } from "../kinds.ts";
import { hasInsecureValidation } from "../listeners/frontend-validation.ts";
import type { Listener, ListenerGroup } from "../listeners/gateways.ts";
import type { Attachment } from "../routes/attachment.ts";
import type { CommonPlan } from "../routes/route-plan.ts";
import { scopeOf, type PlacedGateway, type Placement, type Proxies } from "../scopes/placement.ts";
import type { Bindings } from "../scopes/ports.ts";

export type ListenerStatus = {
  readonly name: string;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: RouteKind }[];
  readonly attachedRoutes: number;
  /** All conditions except `Programmed`. */
  readonly conditions: readonly DesiredCondition[];
  /** The reason why the listener can never be programmed in its present form; undefined if it can. */
  readonly unprogrammable: ConditionReason | undefined;
  /** The port that the proxies bind or will bind for it; undefined if it serves nothing, or if no port was left. */
  readonly port: number | undefined;
};

/** The facts about listeners besides their own fields. */
export type ListenerFacts = {
  /** Returns the number of routes that are attached to the listener with this id. */
  readonly attached: (listener: string) => number;
  /** The ports that the proxies bind or will bind. */
  readonly ports: Bindings;
  /** The resource with the ports that proxies bind for the Gateway. */
  readonly bound: Resource | undefined;
  /** The overlaps with other listeners that terminate TLS, by the id of the listener. */
  readonly overlaps: ReadonlyMap<string, ConditionReason>;
};

export type GatewayStatus = {
  readonly object: ObjectOf<"Gateway">;
  /** All conditions except `Programmed`. */
  readonly conditions: readonly DesiredCondition[];
  readonly listeners: readonly ListenerStatus[];
  /** The number of ListenerSets that the Gateway accepts and that have a serving listener. */
  readonly attachedListenerSets: number;
  /** The resource that proxies must have to serve its listeners; undefined if none serves. */
  readonly bound: Resource | undefined;
  /** The proxies that should serve it. */
  readonly scope: Proxies;
  readonly placement: Placement;
};

export type ListenerSetStatus = {
  readonly object: ObjectOf<"ListenerSet">;
  readonly gateway: ObjectOf<"Gateway">;
  /** The proxies that should serve it. */
  readonly scope: Proxies;
  /** All conditions except `Programmed`. A set that the Gateway does not accept has `Programmed` as well. */
  readonly conditions: readonly DesiredCondition[];
  readonly listeners: readonly ListenerStatus[];
  /** The resource that proxies must have to serve the listeners of the Gateway. */
  readonly bound: Resource | undefined;
};

export type RouteStatus = {
  readonly object: ObjectOf<RouteKind>;
  /** One entry for each reference to a parent of this controller. */
  readonly parents: readonly {
    readonly parentRef: ParentRef;
    /** The reason why the parent does not accept the route; undefined if it does. */
    readonly refusal: ConditionReason | undefined;
    readonly conditions: readonly DesiredCondition[];
    /** The ids of the parent's listeners that the route attaches to, including those that are not served. */
    readonly listeners: readonly string[];
    /** The hosts that the route claims at listeners of the parent, by the ids of the listeners. */
    readonly places: readonly { readonly listener: string; readonly host: string }[];
  }[];
  /** The faults of the route that apply at every parent. The conditions report them too, but not all of them. */
  readonly faults: readonly Fault[];
};

export function gatewayStatus(placed: PlacedGateway, facts: ListenerFacts): GatewayStatus {
  const { gateway, backendCertificate, own, sets, placement } = placed;
  const { refusal: refused } = placement;
  return {
    object: gateway,
    conditions: [
      refused === undefined
        ? acceptedGateway(own.listeners)
        : { type: "Accepted", status: "False", ...refused },
      ...gatewayReferences(backendCertificate),
      ...(hasInsecureValidation(gateway) ? [insecureValidation] : []),
    ],
    listeners: own.listeners.map((listener) => withRefusal(listenerStatus(listener, facts), refused)),
    attachedListenerSets: sets.filter(
      ({ refusal = refused, listeners }) =>
        refusal === undefined && listeners.some((listener) => whyUnprogrammable(listener) === undefined),
    ).length,
    bound: facts.bound,
    scope: scopeOf(placed),
    placement,
  };
}

/** Marks a listener as unprogrammable if its Gateway is not accepted. */
const withRefusal = (listener: ListenerStatus, refused: ConditionReason | undefined): ListenerStatus =>
  refused === undefined || listener.unprogrammable !== undefined
    ? listener
    : { ...listener, unprogrammable: { reason: "Invalid", message: refused.message } };

const resolvedRefs = (refusal: ConditionReason | undefined): DesiredCondition =>
  conditionOf("ResolvedRefs", refusal, { reason: "ResolvedRefs", message: "All references are resolved" });

/**
 * The condition of the client certificate for backends, if the Gateway names one. Listeners report their own
 * references.
 */
const gatewayReferences = (certificate: PlacedGateway["backendCertificate"]): readonly DesiredCondition[] =>
  certificate === undefined ? [] : [resolvedRefs(certificate.refusal)];

const insecureValidation: DesiredCondition = {
  type: "InsecureFrontendValidationMode",
  status: "True",
  reason: "ConfigurationChanged",
  message: "AllowInsecureFallback lets clients in without a valid certificate",
};

/** Accepted if at least one listener is, even if others are not (Gateway API, GatewayReasonListenersNotValid). */
function acceptedGateway(listeners: readonly Listener[]): DesiredCondition {
  const broken = listeners.filter(({ serves }) => !serves);
  if (broken.length === 0) return conditionOf("Accepted", undefined, accepted("The Gateway is accepted"));
  const message = `Listeners not accepted: ${broken.map(({ name }) => name).join(", ")}`;
  if (listeners.some(({ serves }) => serves)) {
    return { type: "Accepted", status: "True", reason: "ListenersNotValid", message };
  }
  const untrusting = listeners.find(({ unaccepted }) => unaccepted?.reason === "NoValidCACertificate");
  return {
    type: "Accepted",
    status: "False",
    message,
    reason: untrusting?.unaccepted?.reason ?? "ListenersNotValid",
  };
}

const accepted = (message: string): ConditionReason => ({ reason: "Accepted", message });

function listenerStatus(listener: Listener, { attached, ports, overlaps }: ListenerFacts): ListenerStatus {
  const { id, name, kinds, conflict, unaccepted, unresolved, port } = listener;
  const refusal = unaccepted ?? conflict;
  const overlapping = overlaps.get(id);
  return {
    name,
    supportedKinds: kinds.map((kind) => ({ group: gatewayGroup, kind })),
    attachedRoutes: attached(id),
    conditions: [
      conditionOf("Accepted", refusal, accepted("The listener is accepted")),
      conflict === undefined
        ? {
            type: "Conflicted",
            status: "False",
            reason: "NoConflicts",
            message: "No conflicts",
          }
        : { type: "Conflicted", status: "True", ...conflict },
      resolvedRefs(unresolved),
      ...(overlapping === undefined ? [] : [overlappingTls(overlapping)]),
    ],
    unprogrammable: whyUnprogrammable(listener),
    port: ports.get(port),
  };
}

/**
 * The condition of overlapping listeners. Requests that arrive over a connection of the other listener are
 * answered 421 (docs/gateway-api.md, "Listeners").
 */
const overlappingTls = (overlap: ConditionReason): DesiredCondition => ({
  type: "OverlappingTLSConfig",
  status: "True",
  ...overlap,
});

function whyUnprogrammable(listener: Listener): ConditionReason | undefined {
  const { kinds, conflict, unaccepted, unresolved, certificates, tlsMode } = listener;
  if (conflict !== undefined) return conflict;
  const hasNoCertificate = tlsMode === "terminate" && certificates.length === 0;
  if (unaccepted === undefined && !hasNoCertificate && kinds.length > 0) return undefined;
  return { reason: "Invalid", message: (unaccepted ?? unresolved)?.message ?? "The listener is not valid" };
}

export function listenerSetStatus(
  { owner, listeners, refusal }: ListenerGroup & { readonly owner: ObjectOf<"ListenerSet"> },
  placed: PlacedGateway,
  facts: ListenerFacts,
): ListenerSetStatus {
  const { gateway, placement } = placed;
  const scope = scopeOf(placed);
  const why =
    refusal ?? (placement.refusal && { reason: "ParentNotAccepted", message: placement.refusal.message });
  if (why !== undefined) {
    const conditions = ["Accepted", "Programmed"].map((type) => ({ type, status: "False" as const, ...why }));
    return { object: owner, gateway, scope, conditions, listeners: [], bound: undefined };
  }
  const statuses = listeners.map((listener) => listenerStatus(listener, facts));
  return {
    object: owner,
    gateway,
    scope,
    conditions: [acceptedSet(statuses)],
    listeners: statuses,
    bound: facts.bound,
  };
}

/** Accepted if at least one of its listeners can be programmed; otherwise the set adds nothing to its Gateway. */
function acceptedSet(listeners: readonly ListenerStatus[]): DesiredCondition {
  const broken = listeners.filter(({ unprogrammable }) => unprogrammable !== undefined);
  if (broken.length === 0) return conditionOf("Accepted", undefined, accepted("The listeners are accepted"));
  const message = `Listeners that cannot be served: ${broken.map(({ name }) => name).join(", ")}`;
  const status = broken.length < listeners.length ? "True" : "False";
  return { type: "Accepted", status, reason: "ListenersNotValid", message };
}

export const routeStatus = (plan: CommonPlan, attachments: readonly Attachment[]): RouteStatus => ({
  object: plan.object,
  parents: attachments.map(({ parentRef, refusal, listeners }) => ({
    parentRef,
    refusal,
    conditions: routeConditions(plan, refusal),
    listeners: listeners.map(({ listener }) => listener.id),
    places: listeners.flatMap(({ listener: { id, serves }, hosts }) =>
      serves ? hosts.map(({ host }) => ({ listener: id, host })) : [],
    ),
  })),
  faults: [...plan.dropped.flatMap(({ faults }) => faults), ...plan.unresolved],
});

/** The reason for a route whose translation throws. */
const unreadable: ConditionReason = {
  reason: "UnsupportedValue",
  message: "The route cannot be translated, so nothing of it is served",
};

function routeConditions(
  plan: CommonPlan,
  refusal: ConditionReason | undefined,
): readonly DesiredCondition[] {
  const { dropped, isUnusable, unresolved } = plan;
  const broken =
    dropped.length === 0
      ? undefined
      : {
          reason: "UnsupportedValue",
          message: `Dropped Rule ${dropped.map(({ rule }) => rule).join(", ")}: ${dropped
            .flatMap(({ faults }) => faults)
            .map(({ field, message }) => `${field}: ${message}`)
            .join("; ")}`,
        };
  const [first] = unresolved;
  return [
    conditionOf(
      "Accepted",
      refusal ?? (isUnusable ? (broken ?? unreadable) : undefined),
      accepted("The route is accepted"),
    ),
    resolvedRefs(first && reasonAt(first.field, first)),
    ...(broken !== undefined && !isUnusable && refusal === undefined
      ? [{ type: "PartiallyInvalid", status: "True" as const, ...broken }]
      : []),
  ];
}
