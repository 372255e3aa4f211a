/** Paths of certificate authorities' challenges, which are neither redirected nor protected. */
import type { ObjectOf } from "../../api/kinds.ts";
import type { NginxPath } from "./groups/group.ts";
import type { HostFacts } from "./host-facts.ts";

const solverLabel = "acme.cert-manager.io/http01-solver";

/**
 * Whether a path is exempt because it begins with one of these prefixes. Any Ingress can add such a path to any
 * host, so the exemption applies only to Ingresses of the namespace that owns the host, and to those that
 * cert-manager creates for a challenge.
 */
export const isExempt = (
  { written }: NginxPath,
  beginnings: readonly string[],
  { metadata }: ObjectOf<"Ingress">,
  { ownerNamespace }: HostFacts,
): boolean =>
  beginnings.some((beginning) => written.startsWith(beginning)) &&
  (ownerNamespace === metadata.namespace || metadata.labels?.[solverLabel] !== undefined);
