/** Paths of certificate authorities' challenges (RFC 8555 8.3), which are neither redirected nor protected. */
import type { ObjectOf } from "../../api/kinds.ts";
import type { NginxPath } from "./groups/group.ts";
import type { HostFacts } from "./host-facts.ts";

const solverLabel = "acme.cert-manager.io/http01-solver";

const isSolver = ({ metadata }: ObjectOf<"Ingress">): boolean => metadata.labels?.[solverLabel] !== undefined;

/**
 * Whether a path is exempt because it begins with one of these prefixes. Any Ingress can add such a path to any
 * host, so the exemption applies only to Ingresses of the namespace that owns the host, and to those that
 * cert-manager creates for a challenge.
 */
export const isExempt = (
  { written }: NginxPath,
  beginnings: readonly string[],
  ingress: ObjectOf<"Ingress">,
  { ownerNamespace }: HostFacts,
): boolean =>
  beginnings.some((beginning) => written.startsWith(beginning)) &&
  (ownerNamespace === ingress.metadata.namespace || isSolver(ingress));

/** Whether the text of a path is at or below the folder of challenges. */
export const isBelowChallenges = (text: string): boolean => text.startsWith("/.well-known/acme-challenge");

/** Whether a path is that of a single token in an Ingress that cert-manager creates for a challenge. */
export const isChallenge = ({ written }: NginxPath, ingress: ObjectOf<"Ingress">): boolean =>
  isSolver(ingress) && /^\/\.well-known\/acme-challenge\/[\w-]+$/.test(written);
