import type { KindName, ObjectOf } from "../../api/kinds.ts";

/** The kinds of this project that other objects refer to. */
export const policyKinds = [
  "BasicAuth",
  "Compression",
  "IpAccessControl",
  "JwtAuth",
  "PathRewriteRegex",
  "RateLimit",
  "RequestSizeLimit",
  "RetryPolicy",
  "RouteOptions",
  "SvcExternalAuth",
  "SvcGatewayParameters",
  "SvcIngressClassParameters",
] as const satisfies readonly KindName[];

export type NamedPolicyKind = (typeof policyKinds)[number];

export type Policy = ObjectOf<NamedPolicyKind>;

/** The kinds whose objects refer to policies. */
export const userKinds = [
  "GRPCRoute",
  "Gateway",
  "GatewayClass",
  "HTTPRoute",
  "Ingress",
  "IngressClass",
  "ListenerSet",
  "RouteOptions",
  "SvcIngressClassParameters",
] as const satisfies readonly KindName[];

export type UserKind = (typeof userKinds)[number];

export type User = ObjectOf<UserKind>;

const kindSet: ReadonlySet<string> = new Set(policyKinds);

export const isPolicyKind = (kind: string): kind is NamedPolicyKind => kindSet.has(kind);

/** The key of a policy among those of all kinds. Keys sort by kind, namespace and name. */
export const policyKey = (kind: NamedPolicyKind, namespace: string, name: string): string =>
  `${kind} ${namespace}/${name}`;
