/**
 * Stand-ins for invalid objects of which no valid version is known. Taken for absent, an object that protects something would
 * leave it open, so its stand-in closes that (docs/standalone.md, "Objects that protect"). One that protects nothing by itself
 * has a stand-in so that findings about objects that name it say that it is invalid, and why, instead of that it does not exist.
 */
import { apiVersionOf, type KnownObject } from "./kinds.ts";

/** The kinds that attach protection or connection settings to other objects, all of them in their own namespace. */
export const attachingKinds = [
  "SvcExternalAuth",
  "ClientTrafficPolicy",
  "BackendTLSPolicy",
  "SvcBackendPolicy",
  "JwtAuth",
  "BasicAuth",
  "IpAccessControl",
  "RouteOptions",
] as const;

export type AttachingKind = (typeof attachingKinds)[number];

/** The kinds that have an effect only where others name them, and none while they are invalid. */
export const namedKinds = [
  "RateLimit",
  "RequestSizeLimit",
  "RetryPolicy",
  "Compression",
  "PathRewriteRegex",
  "SvcGatewayParameters",
] as const;

export const isNamedKind = (kind: string): boolean => (namedKinds as readonly string[]).includes(kind);

/** The kinds whose stand-ins close something. Of class defaults, which protect whole classes, as much is used as can be read. */
export const closingKinds = [...attachingKinds, "SvcIngressClassParameters"] as const;

/** The kinds that have stand-ins. */
export const standInKinds = [...closingKinds, ...namedKinds] as const;

export type StandInKind = (typeof standInKinds)[number];

/** The kinds of which an object can be closed as a target. */
export const closableKinds = [
  "Gateway",
  "ListenerSet",
  "Service",
  "Ingress",
  "HTTPRoute",
  "GRPCRoute",
  "TLSRoute",
  "TCPRoute",
  "UDPRoute",
] as const;

export type ClosableKind = (typeof closableKinds)[number];

/** What an invalid object names, as far as it can be read. `sectionName` is a listener or a port of it. */
export type ClosedTarget = {
  readonly kind: ClosableKind;
  readonly name: string;
  readonly sectionName?: string;
};

const targets: unique symbol = Symbol("targets of a stand-in");
const problem: unique symbol = Symbol("why a stand-in is there");

/** What can be read of an invalid object of such a kind. */
export type StandInSource = {
  readonly kind: StandInKind;
  readonly namespace: string;
  /** Undefined: it has none that can be read, so no reference can lead to it. */
  readonly name: string | undefined;
  readonly creationTimestamp: string | undefined;
  readonly targets: readonly ClosedTarget[];
  /** Of a SvcIngressClassParameters; undefined: they cannot be read. */
  readonly defaultAnnotations?: Readonly<Record<string, string>> | undefined;
};

/** An object in the place of an invalid one. It holds nothing of it but its name, its age, what it names and `why` it is invalid. */
export function createStandIn(
  source: StandInSource & { readonly name: string; readonly why: string },
): KnownObject {
  const { kind, namespace, name, creationTimestamp, why } = source;
  const metadata = { name, namespace, ...(creationTimestamp !== undefined && { creationTimestamp }) };
  const { defaultAnnotations } = source;
  // Nothing may read more of the spec of a stand-in: `isStandIn` is asked first.
  const spec = defaultAnnotations === undefined ? {} : { defaultAnnotations };
  const object = {
    apiVersion: apiVersionOf(kind),
    kind,
    metadata,
    spec,
    [targets]: source.targets,
    [problem]: why,
  };
  return object as unknown as KnownObject;
}

/** What a stand-in closes; undefined for any other object. */
export const targetsOfStandIn = (object: object): readonly ClosedTarget[] | undefined =>
  (object as { readonly [targets]?: readonly ClosedTarget[] })[targets];

/** Whether an object only replaces an invalid one, so that its spec must not be read. */
export const isStandIn = (object: object): boolean => targetsOfStandIn(object) !== undefined;

/** What is wrong with the object that a stand-in replaces, its first problem; undefined for any other object. */
export const problemOfStandIn = (object: object): string | undefined =>
  (object as { readonly [problem]?: string })[problem];
