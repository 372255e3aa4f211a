/**
 * The findings of a translation, one constructor each: severity and reason are decided here and nowhere else.
 * docs/reference/events.md lists them.
 */
import { textOf } from "@svc-gateway/common/values/errors.ts";
import type { Problem } from "@svc-gateway/common/values/result.ts";
import { formatRef, nameOf, type ObjectRef } from "../api/object.ts";
import type { EndpointUse } from "./backends/service-port-ref.ts";
import type { Fault, ConditionReason } from "./condition.ts";
import type { Diagnostic } from "./finding.ts";
import { sharedScope, type LeftOutObject } from "./size/object-size.ts";
import { oneLine, quote } from "./text.ts";

/** Where a finding is: the object, and the path of the field in it. */
export type Place = { readonly object: ObjectRef; readonly field?: string };

/** The path of an entry of a map such as annotations; a key of absurd length is cut. */
export const keyField = (map: string, key: string): string => `${map}[${oneLine(key.slice(0, 128))}]`;

const finding =
  (severity: Diagnostic["severity"], reason: string) =>
  (place: Place, message: string): Diagnostic => ({ ...place, severity, reason, message: oneLine(message) });

/** A finding that `check` counts as an error: objects that a cluster may still get are not among the manifests. */
const errorAmongManifests = (diagnostic: Diagnostic): Diagnostic => ({
  ...diagnostic,
  amongManifests: "error",
});

/** "wrong; expected a right one", as far as the problem says what is expected. */
export const describeProblem = ({ message, expected }: Problem): string =>
  expected === undefined ? message : `${message}, expected ${expected}`;

/**
 * The findings that another object mends by coming into being or by becoming ready, as it does a moment later when all
 * objects of an application are applied together: a log waits before it tells them.
 */
const passing: ReadonlySet<Diagnostic["reason"]> = new Set([
  "BackendNotFound",
  "GatewayClassNotFound",
  "GatewayPolicyTargetNotFound",
  "IngressClassNotFound",
  "InvalidCACertificateRef",
  "InvalidCertificateRef",
  "KeySetNotFetched",
  "ListenerNotServed",
  "NoEndpoints",
  "NoValidCACertificate",
  "ParentNotFound",
  "PolicyTargetNotFound",
  "ProtectionUnavailable",
  "RefNotPermitted",
  "ReferenceNotFound",
  "ReferenceNotPermitted",
  "SecretNotFound",
  "ServiceNotFound",
  "ServicePortNotFound",
]);

/** Whether a finding may pass by itself. */
export const mayPass = (reason: Diagnostic["reason"]): boolean => passing.has(reason);

const failed =
  (severity: Diagnostic["severity"], reason: string, consequence: string) =>
  (place: Place, problem: Problem): Diagnostic =>
    finding(severity, reason)(place, `${describeProblem(problem)}; ${consequence}`);

// Routes

export const invalidHost = failed("error", "InvalidHost", "the host is not served");
export const invalidPath = failed("error", "InvalidPath", "the path is not served");
export const invalidBackend = failed("error", "InvalidBackend", "requests to it are answered 503");

export const resourceBackendIgnored = (place: Place): Diagnostic =>
  finding("error", "ResourceBackendIgnored")(
    place,
    "Resource backends are not supported, expected a Service; the backend is ignored",
  );

export const duplicatePath = (place: Place, host: string, path: string): Diagnostic =>
  finding("error", "DuplicatePath")(
    place,
    `Host ${host} path ${quote(path)} appears twice in this Ingress; only the first one is served`,
  );

/** `answer` is what requests get instead. */
export const routesTooLarge = (place: Place, maxBytes: number, answer: number): Diagnostic =>
  finding("error", "RoutesTooLarge")(
    place,
    `${describeTooLarge(maxBytes)}; all their requests are answered ${answer}`,
  );

export const describeTooLarge = (maxBytes: number): string =>
  `The routes take more than ${maxBytes / 1_048_576} MiB, counting settings that several paths, hosts or listeners share once for each of them`;

export const tooManyCertificates = (place: Place, maxBytes: number): Diagnostic =>
  finding("error", "CertificatesTooLarge")(
    place,
    `The certificates of the listeners take more than ${maxBytes / 1_048_576} MiB, counting each on every port; none of them is served`,
  );

/** Nothing of the routes of an object is served, because the snapshot is full. */
export const snapshotFull = (place: Place, what: LeftOutObject): Diagnostic => {
  const { message, consequence } = describeLeftOut(what);
  return finding("error", "SnapshotFull")(place, `${message}; ${consequence}`);
};

export function describeLeftOut({ object, level, scope, bytes }: LeftOutObject): {
  readonly message: string;
  readonly consequence: string;
} {
  const isRoutes = object.kind !== "Gateway" && object.kind !== "ListenerSet";
  const proxies = scope === sharedScope ? "the shared proxies" : `Gateway ${scope}`;
  return {
    message: `The snapshot of ${proxies} is full, and namespace ${object.namespace ?? ""} takes the most space in it (${isRoutes ? "these routes" : "these certificates"}: ${Math.max(1, Math.round(bytes / 1024))} KiB)`,
    consequence: !isRoutes
      ? "they are not served"
      : {
          1: "all their requests are answered 503",
          2: "requests to their hosts that no other route matches are answered 503",
          3: "none of them is served",
        }[level],
  };
}

/** The object is not held: it is among the newest of a namespace that takes too much of the memory of a controller. */
export const namespaceTooLarge = (place: Place): Diagnostic =>
  finding("error", "NamespaceTooLarge")(
    place,
    `The objects of namespace ${place.object.namespace ?? ""} take more of the controller's memory than one namespace may; this object is among the newest and is ignored, as if it did not exist`,
  );

export const routeConflict = (place: Place, message: string): Diagnostic =>
  finding("error", "RouteConflict")(place, message);

export const defaultBackendShadowed = (place: Place, host: string, winner: ObjectRef): Diagnostic =>
  finding("info", "DefaultBackendShadowed")(
    place,
    `The default backend gets no requests on host ${host}, because ${nameOf(winner)} serves the path /`,
  );

/** `on` is a port or several, `what` a listener of `by`. */
export const hostOfGateway = (
  place: Place,
  taken: { readonly host: string; readonly on: string; readonly by: ObjectRef; readonly what: string },
): Diagnostic => {
  const { host, on, by, what } = taken;
  const which = host === "*" ? `, which has no hostname and so serves every host that no Ingress names` : "";
  return finding("error", "HostOfGateway")(
    place,
    `Host ${host} on ${on} belongs to ${what} of ${formatRef(by)}${which}; this Ingress gets no requests for it there`,
  );
};

export const regexShadowed = (place: Place, host: string, path: string, winner: ObjectRef): Diagnostic =>
  finding("error", "RegexShadowed")(
    place,
    `Regex path ${quote(path)} on host ${host} is never matched: ${nameOf(winner)} serves the prefix /, and prefixes take precedence over regular expressions`,
  );

export const pathLevelConflict = (place: Place, host: string, level: string, winner: ObjectRef): Diagnostic =>
  finding("warning", "PathLevelConflict")(
    place,
    `Paths on host ${host} are normalised at level ${level}, which ${nameOf(winner)} sets and which has precedence; the level of this Ingress is ignored`,
  );

// Backends

export const serviceNotFound = (place: Place, service: string): Diagnostic =>
  finding("error", "ServiceNotFound")(
    place,
    `Service ${service} does not exist; requests to it are answered 503`,
  );

export const servicePortNotFound = (place: Place, service: string, port: string): Diagnostic =>
  finding("error", "ServicePortNotFound")(
    place,
    `Service ${service} has no TCP port ${quote(port)}; requests to it are answered 503`,
  );

export const externalNameNotAllowed = (place: Place, service: string): Diagnostic =>
  finding("error", "ExternalNameNotAllowed")(
    place,
    `Service ${service} is of type ExternalName, which is only served with --allow-external-name; requests to it are answered 503`,
  );

export const noEndpoints = (
  place: Place,
  port: number,
  why: string,
  uses: readonly EndpointUse[],
): Diagnostic =>
  finding("warning", "NoEndpoints")(
    place,
    `Port ${port} has no endpoint, because ${why}; ${uses.map((use) => withoutEndpoints[use]).join(", and ")}`,
  );

export const endpointsLeftOut = (place: Place, why: string): Diagnostic =>
  finding("error", "EndpointsLeftOut")(place, why);

/** `full`: those of all Services take more than `maxBytes`; without it, those of this one do. */
export function describeEndpointsLeftOut(
  maxBytes: number,
  full?: { readonly namespace: string; readonly bytes: number },
): string {
  const limit = `${maxBytes / 1_048_576} MiB`;
  const why =
    full === undefined
      ? `The endpoints of the Service take more than ${limit}, counting each at every port that is used`
      : `The endpoints of all Services take more than ${limit}, and namespace ${full.namespace} takes the most of it (this Service: ${Math.max(1, Math.round(full.bytes / 1024))} KiB), counting each at every port that is used`;
  return `${why}; none of them is used: requests to the Service are answered 503, connections reset, datagrams dropped`;
}

/** `unserved` is what the endpoints were for, where none is left. */
export const ownPortRefused = (
  place: Place,
  port: number,
  endpoint: string,
  count: number,
  unserved: readonly EndpointUse[] | undefined,
): Diagnostic =>
  finding("error", "OwnPortRefused")(
    place,
    `Port ${port} leads to ${endpoint}${count > 1 ? ` and ${count - 1} more` : ""}, which ${count > 1 ? "are ports" : "is a port"} of the gateway itself and cannot be used as ${count > 1 ? "backends" : "a backend"}; ${unserved === undefined ? "only its other endpoints are used" : unserved.map((use) => withoutEndpoints[use]).join(", and ")}`,
  );

const withoutEndpoints: { readonly [U in EndpointUse]: string } = {
  checks: "requests that need its authorization are answered 503",
  connections: "connections to it are reset",
  copies: "requests are not mirrored to it",
  datagrams: "datagrams to it are dropped",
  requests: "requests to it are answered 503",
};

export const policyValueIgnored = (place: Place, problem: Problem, instead: string): Diagnostic =>
  failed("warning", "PolicyValueIgnored", instead)(place, problem);

export const policyConflict = (place: Place, service: string, winner: string): Diagnostic =>
  finding("warning", "PolicyConflict")(
    place,
    `Service ${service} already uses the older ${winner}; this policy has no effect on it`,
  );

/** Of a policy without which connections to the port go in cleartext. */
export const tlsPolicyTargetNotFound = (place: Place, target: string): Diagnostic =>
  finding("error", "PolicyTargetNotFound")(
    place,
    `${target} does not exist; the policy protects no connections to it`,
  );

export const policyTargetNotFound = (place: Place, target: string): Diagnostic =>
  finding("warning", "PolicyTargetNotFound")(
    place,
    `${target} does not exist; the policy has no effect there`,
  );

/** The one finding that the log has as an error: nothing else shows that requests travel unprotected. */
export const cleartextFallback = (place: Place): Diagnostic =>
  finding("error", "CleartextFallback")(
    place,
    "The policy has no usable name, so traffic to the backends is NOT encrypted; --backend-tls-strict refuses such connections instead",
  );

/** That another policy has what a policy of a Gateway names. */
export const gatewayPolicyConflict = (place: Place, message: string): Diagnostic =>
  finding("error", "GatewayPolicyConflict")(place, message);

export const gatewayPolicyWithoutTarget = (place: Place, message: string): Diagnostic =>
  finding("error", "GatewayPolicyTargetNotFound")(place, `${message}; the policy has no effect there`);

export const invalidGatewayPolicy = (place: Place, message: string): Diagnostic =>
  finding("error", "InvalidGatewayPolicy")(place, message);

export const invalidSessionKey = (place: Place): Diagnostic =>
  finding("error", "InvalidSessionKey")(
    place,
    "The Secret does not hold a key of 32 bytes; cookies keep no session until it does or the Secret is deleted",
  );

// Gateway API

/** What a condition says, at the field that it names; `place` is where the condition stands. */
export function conditionFinding(place: Place, refusal: ConditionReason, consequence?: string): Diagnostic {
  const { reason, message, field } = refusal;
  const bare = field === undefined ? message : message.slice(`${field}: `.length);
  const within = place.field === undefined || field?.startsWith("spec.") === true ? "" : `${place.field}.`;
  const at = field === undefined ? place : { ...place, field: `${within}${field}` };
  return finding("error", reason)(at, consequence === undefined ? bare : `${bare}; ${consequence}`);
}

/** What is wrong with a part of a route. */
export const faultFinding = (place: Place, { reason, message, consequence }: Fault): Diagnostic =>
  finding("error", reason)(place, `${message}; ${consequence}`);

/** Of a rule that leads nowhere, and that no filter answers. `why` says what it lacks. */
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

/** Of a route that listeners take, none of which is served; `parent` names where. */
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

/** `hint` asks for a class that may be meant. */
export const gatewayClassNotFound = (place: Place, name: string, hint: string): Diagnostic =>
  finding("error", "GatewayClassNotFound")(
    place,
    `GatewayClass ${quote(name)} does not exist${hint}; the Gateway is not served`,
  );

export const routeFieldIgnored = (place: Place, message: string): Diagnostic =>
  finding("warning", "FieldIgnored")(place, message);

export const parametersIgnored = (place: Place): Diagnostic =>
  finding("info", "ParametersIgnored")(
    place,
    "The parameters ask for dedicated proxies, which only a controller in a cluster can create; the Gateway is served like any other",
  );

// Certificates

export const secretNotFound = (place: Place, secret: string): Diagnostic =>
  finding("error", "SecretNotFound")(
    place,
    `Secret ${secret} does not exist; its hosts are served without that certificate`,
  );

export const invalidCertificate = (place: Place, secret: string, problem: Problem): Diagnostic =>
  finding("error", "InvalidCertificate")(
    place,
    `Secret ${secret}: ${describeProblem(problem)}; its hosts are served without that certificate`,
  );

/** `until` is when the certificate expires. */
export const lastCertificateKept = (
  place: Place,
  secret: string,
  problem: Problem,
  until: string,
): Diagnostic => finding("warning", "LastCertificateKept")(place, describeKept(secret, problem, until));

export const describeKept = (secret: string, problem: Problem, until: string): string =>
  `Secret ${secret} can no longer be used: ${describeProblem(problem)}; its last certificate is served until ${until} or a restart`;

export const certificateConflict = (place: Place, host: string, owner: ObjectRef): Diagnostic =>
  finding("error", "CertificateConflict")(
    place,
    `The certificate is not used for host ${host}, whose TLS belongs to ${formatRef(owner)}`,
  );

export const certificateHostMismatch = (place: Place, secret: string, host: string): Diagnostic =>
  finding("warning", "CertificateHostMismatch")(
    place,
    `The certificate of Secret ${secret} is not valid for host ${host}; clients will reject it`,
  );

export const certificateExpired = (place: Place, at: string): Diagnostic =>
  finding("warning", "CertificateExpired")(
    place,
    `The certificate expired at ${at}; it is still served, but clients will reject it`,
  );

export const certificateNotYetValid = (place: Place, at: string): Diagnostic =>
  finding("warning", "CertificateNotYetValid")(
    place,
    `The certificate is not valid before ${at}; it is served, but clients will reject it`,
  );

export const noSecretName = (place: Place): Diagnostic =>
  finding("info", "NoSecretName")(
    place,
    "The TLS entry names no Secret; the default certificate is served, if there is one",
  );

// Classes and annotations

/** `hint` asks for a class that may be meant. */
export const ingressClassNotFound = (place: Place, name: string, hint: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "IngressClassNotFound")(
      place,
      `IngressClass ${quote(name)} does not exist${hint}; the Ingress is not served`,
    ),
  );

/** In a cluster the Ingress may be somebody else's; among manifests nobody is there to serve it. */
export const noIngressClass = (place: Place): Diagnostic =>
  errorAmongManifests(
    finding("info", "NoIngressClass")(
      place,
      "The Ingress names no class and no IngressClass of this gateway is the default class; the Ingress is not served",
    ),
  );

/** Of parameters that may be what keeps clients or requests out. */
export const invalidClassParameters = (place: Place, why: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "InvalidClassParameters")(
      place,
      `${why}; the class has no defaults, and with --class-parameters-strict every request to its Ingresses would be answered 503`,
    ),
  );

export const classClosed = (place: Place): Diagnostic =>
  protectionUnavailable(
    place,
    "The parameters of the class, which may protect its routes, cannot be used",
    "every request is answered 503",
  );

export const invalidClassDefault = failed("warning", "InvalidClassDefault", "the built-in default applies");

/** Of a default that keeps clients or requests out. */
export const invalidProtectingDefault = (place: Place, problem: Problem): Diagnostic =>
  errorAmongManifests(invalidClassDefault(place, problem));

export const invalidAnnotation = (place: Place, message: string): Diagnostic =>
  finding("error", "InvalidAnnotation")(place, message);

export const annotationWarning = (place: Place, message: string): Diagnostic =>
  finding("warning", "AnnotationPartlyIgnored")(place, message);

export const referenceNotFound = (place: Place, named: string, consequence: string): Diagnostic =>
  finding("warning", "ReferenceNotFound")(place, `${named} does not exist; ${consequence}`);

/** Of a resource that would keep clients or requests out. */
export const protectionNotFound = (place: Place, named: string, consequence: string): Diagnostic =>
  errorAmongManifests(referenceNotFound(place, named, consequence));

export const referenceNotPermitted = (place: Place, message: string): Diagnostic =>
  finding("error", "ReferenceNotPermitted")(place, message);

export const riskyAnnotation = (place: Place, message: string): Diagnostic =>
  finding("warning", "RiskyAnnotation")(place, message);

export const unusableResource = (place: Place, why: string, consequence: string): Diagnostic =>
  errorAmongManifests(finding("warning", "UnusableResource")(place, `${why}; ${consequence}`));

export const protectionUnavailable = (place: Place, why: string, consequence: string): Diagnostic =>
  finding("error", "ProtectionUnavailable")(place, `${why}; ${consequence}`);

/** Of what an invalid object names; `parts` are the listeners or ports of it that are meant, where not all are. */
export const targetClosed = (place: Place, by: string, parts: string | undefined): Diagnostic =>
  finding("error", "TargetClosed")(
    place,
    `${by}, which targets ${parts === undefined ? `this ${place.object.kind}` : parts}, is not valid; what it protects answers 503 or accepts no connections until it is`,
  );

export const resourcePartlyIgnored = (place: Place, message: string): Diagnostic =>
  finding("warning", "ResourcePartlyIgnored")(place, message);

/** Of a set with more keys of an algorithm than a token is tried with. */
export const keySetNeedsKid = (place: Place, message: string): Diagnostic =>
  finding("info", "KeySetNeedsKid")(place, message);

export const keySetNotFetched = (place: Place, why: string, hasOldKeys: boolean): Diagnostic =>
  finding("warning", "KeySetNotFetched")(
    place,
    `The key set cannot be fetched: ${why}; ${hasOldKeys ? "the last one stays in use" : "requests are answered 503 until it is"}`,
  );

export const keySetLeftOut = (place: Place, maxBytes: number, bytes: number): Diagnostic =>
  protectionUnavailable(
    place,
    `The key sets of all JwtAuths take more than ${maxBytes / 1_048_576} MiB, and namespace ${place.object.namespace ?? ""} takes the most of it (this key set: ${Math.max(1, Math.round(bytes / 1024))} KiB)`,
    "the key set is not used, and requests are answered 503",
  );

export const linesLeftOut = (place: Place, named: string, leftOut: readonly string[]): Diagnostic =>
  finding("warning", "LinesLeftOut")(
    place,
    `${named} has invalid lines, which are ignored: ${leftOut.join(", ")}`,
  );

export const resourceFieldIgnored = (place: Place, named: string, what: string): Diagnostic =>
  finding("warning", "InvalidField")(place, `${named}: ${what}`);

export const mirrorDisabled = (place: Place, why: string): Diagnostic =>
  finding("error", "MirrorDisabled")(place, `${why}; requests are not mirrored`);

const describeRanges = (named: string, refused: readonly string[]): string =>
  `${named} holds ${quote(refused[0] ?? "")}${refused.length > 1 ? ` and ${refused.length - 1} more, which are not IP addresses or CIDRs; they are ignored` : ", which is not an IP address or CIDR; it is ignored"}`;

export const rangesLeftOut = (place: Place, named: string, refused: readonly string[]): Diagnostic =>
  finding("warning", "InvalidRange")(place, describeRanges(named, refused));

/** Of ranges that are to be refused: clients from there are let in. */
export const denialsLeftOut = (place: Place, named: string, refused: readonly string[]): Diagnostic =>
  errorAmongManifests(rangesLeftOut(place, named, refused));

export const everyPeerTrusted = (place: Place, header: string): Diagnostic =>
  finding("warning", "EveryPeerTrusted")(
    place,
    `Header ${quote(header)} is trusted from every peer, so clients can spoof their address; forwarded-for-trusted-cidrs limits the trust to proxies`,
  );

export const defaultVerifyDepth = (place: Place): Diagnostic =>
  finding("warning", "DefaultVerifyDepth")(
    place,
    "auth-tls-verify-depth is not set and defaults to 1, so clients whose certificate was issued by an intermediate CA are rejected",
  );

export const authTlsWithoutHosts = (place: Place): Diagnostic =>
  protectionUnavailable(
    place,
    "spec.tls names no host, so no handshake asks clients for a certificate",
    "every request is answered 503",
  );

export const authTlsHostNotListed = (place: Place, host: string): Diagnostic =>
  protectionUnavailable(
    place,
    `Host ${host} is not listed in spec.tls, so no handshake for it asks clients for a certificate by these rules`,
    "its HTTPS requests are answered 421",
  );

export const unknownAnnotation = (place: Place, key: string): Diagnostic =>
  finding("warning", "UnknownAnnotation")(
    place,
    `${quote(key)} is not an annotation of this gateway; it has no effect`,
  );

/** Of a key that is close to one of an annotation: what it should do is not done. */
export const misspeltAnnotation = (place: Place, key: string, meant: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "UnknownAnnotation")(
      place,
      `${quote(key)} is not an annotation of this gateway (did you mean ${meant}?); it has no effect`,
    ),
  );

/** Told by `check` only: a controller would repeat it for every object of a cluster that is none of its business. */
export const notWatched = (place: Place): Diagnostic =>
  finding("info", "NotWatched")(
    place,
    "The object is not served: --watch-namespace does not include its namespace",
  );

/** A bug of the translation: the object is set aside so that it cannot keep others from being served. */
export const internalError = (place: Place, error: unknown): Diagnostic =>
  finding("error", "InternalError")(
    place,
    `The object cannot be translated and is not served: ${textOf(error)}`,
  );
