/** What is known of a host as a whole, and what its Ingresses want of it. */
import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";

/** Facts that are known only when all Ingresses are. */
export type HostFacts = {
  /** Whether some Ingress lists the host, or a wildcard for it, under `spec.tls`. */
  readonly hasTls: boolean;
  /** The namespace of the oldest Ingress with a rule for the host. */
  readonly ownerNamespace: string | undefined;
};

/** The features of a route on a host with these facts. Pure: it is called again when they change. */
export type FeaturesOnHost = (facts: HostFacts) => RouteFeatures | undefined;

/** Another name for a host. */
export type Alias = HostPattern;

/** The redirect of the name with or without `www.` to the host. */
export type RedirectedName = Pick<Redirect, "statusCode" | "cutSlash">;

/** What an Ingress of ingress-nginx wants of each of its hosts as a whole. Groups add optional properties. */
export type HostWishes = {
  /** Where requests for `/` are redirected, whichever Ingress has the path. */
  readonly appRoot?: Redirect;
  readonly aliases?: readonly Alias[];
  readonly www?: RedirectedName;
  /** Whether TLS is passed to the backend of `/` without being terminated. */
  readonly passthrough?: true;
};
