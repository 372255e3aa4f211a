/**
 * Stand-ins for invalid objects without a known valid version. If such an object were treated as absent, everything
 * that it protects would be open, so its stand-in closes that (docs/standalone.md, "Objects that protect"). An object
 * that protects nothing on its own has a stand-in so that findings about objects that name it report that it is
 * invalid, and why, and not that it does not exist.
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

/** The kinds that have an effect only where other objects name them, and none while they are invalid. */
export const namedKinds = [
  "RateLimit",
  "RequestSizeLimit",
  "RetryPolicy",
  "Compression",
  "PathRewriteRegex",
  "SvcGatewayParameters",
] as const;

export const isNamedKind = (kind: string): boolean => (namedKinds as readonly string[]).includes(kind);

/**
 * The kinds whose stand-ins close something. Class defaults protect whole classes, so all defaults that can be read
 * apply.
 */
export const closingKinds = [...attachingKinds, "SvcIngressClassParameters"] as const;

/** The kinds that have stand-ins. */
export const standInKinds = [...closingKinds, ...namedKinds] as const;

export type StandInKind = (typeof standInKinds)[number];

/** The kinds whose objects can be closed as targets. */
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

/** A target of an invalid object, as far as it can be read; `sectionName` is a listener or port of the target. */
export type ClosedTarget = {
  readonly kind: ClosableKind;
  readonly name: string;
  readonly sectionName?: string;
};

const targets: unique symbol = Symbol("targets of a stand-in");
const invalidity: unique symbol = Symbol("why the newest version of an object is not used");

/** The reasons why the newest version of an object is not used. `generation` is that of this version, if it has one. */
export type Invalidity = { readonly problems: readonly string[]; readonly generation: number | undefined };

/** The readable parts of an invalid object of a kind with stand-ins. */
export type StandInSource = {
  readonly kind: StandInKind;
  readonly namespace: string;
  /** The name; undefined if none can be read, so that no reference can lead to the object. */
  readonly name: string | undefined;
  readonly creationTimestamp: string | undefined;
  /** The values `uid` and `generation` set by the API server; files have none. */
  readonly uid?: string | undefined;
  readonly generation?: number | undefined;
  readonly targets: readonly ClosedTarget[];
  /** The defaults of a SvcIngressClassParameters; undefined if they cannot be read. */
  readonly defaultAnnotations?: Readonly<Record<string, string>> | undefined;
};

/**
 * Creates the replacement of an invalid object. It has only the name, the age and the targets of that object, and the
 * reasons why it is invalid: at least one entry in `problems`.
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
  // No caller may read more of the spec of a stand-in: `isStandIn` is checked first.
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

/** The targets that a stand-in closes; undefined for any other object. */
export const targetsOfStandIn = (object: object): readonly ClosedTarget[] | undefined =>
  (object as { readonly [targets]?: readonly ClosedTarget[] })[targets];

/** Whether an object only replaces an invalid one, so that its spec must not be read. */
export const isStandIn = (object: object): boolean => targetsOfStandIn(object) !== undefined;

/**
 * Describes the effect of an invalid object: of one with a stand-in, of one without, or while a valid version is kept.
 */
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

/** Marks the last valid version of an object as a replacement of an invalid newest one. */
export const keepInstead = <T extends object>(object: T, why: Invalidity): T => ({
  ...object,
  [invalidity]: why,
});

/**
 * The reasons why the newest version of an object is not used, for a stand-in or a kept version; undefined if it is
 * valid.
 */
export const invalidityOf = (object: object): Invalidity | undefined =>
  (object as { readonly [invalidity]?: Invalidity })[invalidity];

/** The generation of the newest version of an object, used or not. */
export const newestGeneration = (object: {
  readonly metadata: { readonly generation?: number };
}): number | undefined => invalidityOf(object)?.generation ?? object.metadata.generation;

/** The first problem of the object that a stand-in replaces; undefined for any other object. */
export const problemOfStandIn = (object: object): string | undefined =>
  isStandIn(object) ? invalidityOf(object)?.problems[0] : undefined;
