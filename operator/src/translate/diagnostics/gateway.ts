/** Findings about Gateways, listeners and routes of the Gateway API. */
import type { ConditionReason, Fault } from "../condition.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** The finding of a condition, at the field that its message names. `place` is the object of the condition. */
export function conditionFinding(place: Place, refusal: ConditionReason, consequence?: string): Diagnostic {
  const { reason, message, field } = refusal;
  const bare = field === undefined ? message : message.slice(`${field}: `.length);
  const within = place.field === undefined || field?.startsWith("spec.") === true ? "" : `${place.field}.`;
  const at = field === undefined ? place : { ...place, field: `${within}${field}` };
  return finding("error", reason)(at, consequence === undefined ? bare : `${bare}; ${consequence}`);
}

/** The finding of a fault in a part of a route. */
export const faultFinding = (place: Place, { reason, message, consequence }: Fault): Diagnostic =>
  finding("error", reason)(place, `${message}; ${consequence}`);

/** A finding about a rule without a backend that no filter answers. `why` describes what is missing. */
export const noBackend = (place: Place, why: string, instead: string): Diagnostic =>
  finding("error", "NoBackend")(place, `${why}; ${instead}`);

export const refusedParent = (place: Place, { reason, message }: ConditionReason): Diagnostic =>
  finding("error", reason)(place, `${message}; the route is not served there`);

const withoutParent = finding("error", "ParentNotFound");

export const parentNotFound = (place: Place, parent: string, isWatched: boolean): Diagnostic => {
  const what = place.object.kind === "ListenerSet" ? "its listeners are" : "the route is";
  const why = isWatched ? "does not exist" : "is in a namespace that --watch-namespace does not include";
  return withoutParent(place, `${parent} ${why}; ${what} not served there`);
};

/**
 * A finding about a reference to a kind that is not a parent of the object, such as a misspelt one. `kind` is
 * quoted.
 */
export const noKindOfParent = (place: Place, kind: string): Diagnostic => {
  const [expected, what] =
    place.object.kind === "ListenerSet"
      ? ["Gateway", "its listeners are"]
      : ["Gateway or ListenerSet", "the route is"];
  return withoutParent(
    place,
    `${kind} is not a kind of parent, expected ${expected} of group gateway.networking.k8s.io; ${what} not served there`,
  );
};

/** A finding about a route of which every accepting listener is not served. `place` names the parent. */
export const noServingListener = (place: Place): Diagnostic =>
  finding("error", "ListenerNotServed")(
    place,
    "None of the listeners of this parent that accept the route is served; the route is not served there",
  );

export const noParent = (place: Place): Diagnostic =>
  withoutParent(
    place,
    "The route names no parent, expected one in spec.parentRefs; the route is not served anywhere",
  );

/** `hint` suggests a class that is probably meant. */
export const gatewayClassNotFound = (place: Place, name: string, hint: string): Diagnostic =>
  finding("error", "GatewayClassNotFound")(
    place,
    `GatewayClass ${quote(name)} does not exist${hint}; the Gateway is not served`,
  );

export const routeFieldIgnored = (place: Place, message: string): Diagnostic =>
  finding("warning", "FieldIgnored")(place, message);

/**
 * A finding about a mode that admits clients without a valid certificate. `ports` describes the ports of the
 * listeners.
 */
export const insecureFrontendValidation = (place: Place, ports: string): Diagnostic =>
  finding("warning", "ClientsNotVerified")(
    place,
    `"AllowInsecureFallback" does not verify clients, expected "AllowValidOnly"; HTTPS listeners of ${ports} serve clients without a valid certificate, which backends must authenticate by other means`,
  );

export const parametersIgnored = (place: Place): Diagnostic =>
  finding("info", "ParametersIgnored")(
    place,
    "The parameters ask for dedicated proxies, which only a controller in a cluster can create; the Gateway is served like any other",
  );
