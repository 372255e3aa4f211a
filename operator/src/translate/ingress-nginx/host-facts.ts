/** Facts about a host as a whole, and the settings that its Ingresses request for it. */
import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { LocationPath } from "./snippets/location.ts";

/** Facts that are known only when all Ingresses are planned. */
export type HostFacts = {
  /** Whether any Ingress lists the host, or a wildcard that covers it, under `spec.tls`. */
  readonly hasTls: boolean;
  /** The namespace of the oldest Ingress with a rule for the host. */
  readonly ownerNamespace: string | undefined;
};

/**
 * Returns the features of a route on a host with these facts. Must be pure: it is called again when the facts
 * change.
 */
export type FeaturesOnHost = (facts: HostFacts) => RouteFeatures | undefined;

/** Another name for a host. */
export type Alias = HostPattern;

/** The redirect of the name with or without `www.` to the host. */
export type RedirectedName = Pick<Redirect, "statusCode" | "cutSlash">;

/**
 * The settings that an ingress-nginx Ingress requests for each of its hosts as a whole. Groups add optional
 * properties.
 */
export type HostWishes = {
  /** The redirect of requests for `/`, whichever Ingress has the path. */
  readonly appRoot?: Redirect;
  readonly aliases?: readonly Alias[];
  readonly www?: RedirectedName;
  /** Whether TLS is passed through to the backend of `/` without being terminated. */
  readonly passthrough?: true;
  /**
   * The paths that a snippet protects on the whole host. They are answered 503 on the routes of the namespace's other
   * Ingresses as well.
   */
  readonly closedPaths?: "all" | readonly LocationPath[];
};
