/** What is known of a host as a whole, and what its Ingresses want of it. */
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

/** What an Ingress of ingress-nginx wants of each of its hosts as a whole. Groups add optional properties. */
export type HostWishes = object;
