/** Finds policies of Services that the manifests already contain. A second one for a Service would have no effect. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import { compareAges, ageOf } from "@svc-gateway/operator/translate/age.ts";
import type { World } from "@svc-gateway/operator/world.ts";

/** The policy that applies to each Service, by `namespace/name` of the Service. */
export function givenPolicies({
  SvcBackendPolicy: policies,
}: Pick<World, "SvcBackendPolicy">): ReadonlyMap<string, ObjectOf<"SvcBackendPolicy">> {
  // Of several policies, the oldest applies, so it is set last.
  const fromYoungest = policies.toSorted((a, b) => compareAges(ageOf(b), ageOf(a)));
  return new Map(
    fromYoungest.flatMap((one) =>
      one.spec.targetRefs.map(({ name }) => [`${one.metadata.namespace}/${name}`, one] as const),
    ),
  );
}

/** The beginning of a sentence about a policy that is kept. */
export const sayGiven = (service: string, { metadata }: ObjectOf<"SvcBackendPolicy">): string =>
  `Service ${service} already has SvcBackendPolicy ${nameOf(metadata)}`;
