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
const invalidity: unique symbol = Symbol("why the newest version of an object is not used");

/** Why the newest version of an object is not used. `generation` is that of this version, where it has one. */
export type Invalidity = { readonly problems: readonly string[]; readonly generation: number | undefined };

/** What can be read of an invalid object of such a kind. */
export type StandInSource = {
  readonly kind: StandInKind;
  readonly namespace: string;
  /** Undefined: it has none that can be read, so no reference can lead to it. */
  readonly name: string | undefined;
  readonly creationTimestamp: string | undefined;
  /** As the API server has set them; files have none. */
  readonly uid?: string | undefined;
  readonly generation?: number | undefined;
  readonly targets: readonly ClosedTarget[];
  /** Of a SvcIngressClassParameters; undefined: they cannot be read. */
  readonly defaultAnnotations?: Readonly<Record<string, string>> | undefined;
};

/**
 * An object in the place of an invalid one. It holds nothing of it but its name, its age, what it names and why it is invalid:
 * its `problems`, of which there is at least one.
 */
export function createStandIn(
  source: StandInSource & { readonly name: string; readonly problems: readonly string[] },
): KnownObject {
  const { kind, namespace, name, creationTimestamp, uid, generation, problems } = source;
  const metadata = {
    name,
    namespace,
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(uid !== undefined && { uid }),
    ...(generation !== undefined && { generation }),
  };
  const { defaultAnnotations } = source;
  // Nothing may read more of the spec of a stand-in: `isStandIn` is asked first.
  const spec = defaultAnnotations === undefined ? {} : { defaultAnnotations };
  const object = {
    apiVersion: apiVersionOf(kind),
    kind,
    metadata,
    spec,
    [targets]: source.targets,
    [invalidity]: { problems, generation } satisfies Invalidity,
  };
  return object as unknown as KnownObject;
}

/** What a stand-in closes; undefined for any other object. */
export const targetsOfStandIn = (object: object): readonly ClosedTarget[] | undefined =>
  (object as { readonly [targets]?: readonly ClosedTarget[] })[targets];

/** Whether an object only replaces an invalid one, so that its spec must not be read. */
export const isStandIn = (object: object): boolean => targetsOfStandIn(object) !== undefined;

/** What happens in place of what an invalid object says: to one with a stand-in, without one, or while a version is kept. */
export function effectOfInvalid(object: object | undefined, isKept: boolean): string {
  if (isKept) return "its last valid version is used";
  const {
    kind = "",
    spec,
    defaultAnnotations = spec?.defaultAnnotations,
  } = (object ?? {}) as Partial<StandInSource & { readonly spec: Pick<StandInSource, "defaultAnnotations"> }>;
  if (!(closingKinds as readonly string[]).includes(kind)) return "the object is not used";
  return defaultAnnotations === undefined
    ? "what it protects is closed"
    : "its defaults that can be read apply";
}

/** The last valid version of an object, in place of a newest one that is invalid. */
export const keepInstead = <T extends object>(object: T, why: Invalidity): T => ({
  ...object,
  [invalidity]: why,
});

/** Why the newest version of an object is not used, of a stand-in or of a kept version; undefined where it is valid. */
export const invalidityOf = (object: object): Invalidity | undefined =>
  (object as { readonly [invalidity]?: Invalidity })[invalidity];

/** The generation of the newest version of an object, whether it is used or not. */
export const newestGeneration = (object: {
  readonly metadata: { readonly generation?: number };
}): number | undefined => invalidityOf(object)?.generation ?? object.metadata.generation;

/** What is wrong with the object that a stand-in replaces, its first problem; undefined for any other object. */
export const problemOfStandIn = (object: object): string | undefined =>
  isStandIn(object) ? invalidityOf(object)?.problems[0] : undefined;
