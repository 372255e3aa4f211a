/**
 * Stand-ins for objects that protect something and of which no valid version is known. Taken for absent, such an object
 * would leave open what it was written to protect; its stand-in closes it (docs/standalone.md, "Objects that protect").
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

/** The kinds that have stand-ins. Of class defaults, which protect whole classes, as much is used as can be read. */
export const standInKinds = [...attachingKinds, "SvcIngressClassParameters"] as const;

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

/** An object in the place of an invalid one. It holds nothing of it but its name, its age and what it names. */
export function createStandIn(source: StandInSource & { readonly name: string }): KnownObject {
  const { kind, namespace, name, creationTimestamp } = source;
  const metadata = { name, namespace, ...(creationTimestamp !== undefined && { creationTimestamp }) };
  const { defaultAnnotations } = source;
  // Nothing may read more of the spec of a stand-in: `isStandIn` is asked first.
  const spec = defaultAnnotations === undefined ? {} : { defaultAnnotations };
  const object = { apiVersion: apiVersionOf(kind), kind, metadata, spec, [targets]: source.targets };
  return object as unknown as KnownObject;
}

/** What a stand-in closes; undefined for any other object. */
export const targetsOfStandIn = (object: object): readonly ClosedTarget[] | undefined =>
  (object as { readonly [targets]?: readonly ClosedTarget[] })[targets];

/** Whether an object only replaces an invalid one, so that its spec must not be read. */
export const isStandIn = (object: object): boolean => targetsOfStandIn(object) !== undefined;
