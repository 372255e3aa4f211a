/**
 * Handles paths of a host that no rule names. ingress-nginx applies the annotations of the oldest Ingress to their
 * requests before it answers 404. The written manifests have no such path, so 404 is answered immediately.
 */
import type { FeatureSlug } from "@svc-gateway/common/features/registry.ts";
import { restPart } from "@svc-gateway/operator/translate/ingress/claims.ts";
import type { UnitDifference } from "./known-differences.ts";
import type { ServedUnit } from "./served-units.ts";

/** Whether the unit is for the paths of its host that no rule names. */
export const isOfUnnamedPaths = ({ part }: ServedUnit): boolean => part === restPart;

/** The features that can answer requests before a backend is contacted. */
const answering: readonly FeatureSlug[] = [
  ...(["redirect", "ssl-redirect", "cors", "ip-access-control", "rate-limit"] as const),
  ...(["auth-basic-secret", "ext-auth", "closed-paths", "error-pages"] as const),
];

/** The differences of an Ingress whose features answered requests for such paths. */
export function unnamedPathsLost(units: readonly ServedUnit[]): readonly UnitDifference[] {
  const hosts = units.filter(({ route: { features = {} } }) =>
    answering.some((slug) => features[slug] !== undefined),
  );
  if (hosts.length === 0) return [];
  const names = hosts.map(({ host }) => host).join(", ");
  return [
    {
      property: "unnamedPaths",
      loss: "changed",
      text: `Paths of ${names} that no rule names are answered 404 at once, without the redirects and checks of the annotations`,
    },
  ];
}
