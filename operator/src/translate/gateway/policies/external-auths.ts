/** The SvcExternalAuths that are attached to Gateways. See docs/features/ext-auth.md, "For a whole Gateway". */
import { closedService } from "@svc-gateway/common/features/ext-auth.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import type { World } from "../../../world.ts";
import { ageOf, compareAges, describePrecedence } from "../../age.ts";
import { attempt } from "../../attempt.ts";
import { withoutStandIns } from "../../closures.ts";
import { resourcePartlyIgnored } from "../../diagnostics/references.ts";
import { readExternalAuth } from "../../features/ext-auth.ts";
import type { Diagnostic } from "../../finding.ts";
import { trackedMemo } from "../../incremental/memo.ts";
import {
  createAttachmentKeeper,
  type PolicyAncestor,
  type PolicyAttachment,
} from "../../policy-ancestors.ts";
import type { PlannedGateway } from "../listeners/gateways.ts";
import type { Guard } from "../model.ts";
import {
  ancestorOf,
  createGatewayFinder,
  describeVerdict,
  missingGateway,
  type Verdict,
} from "./policy-targets.ts";

export type GuardedGateways = {
  /** Guards by `namespace/name` of the Gateway. */
  readonly guards: ReadonlyMap<string, Guard>;
  readonly attachments: readonly PolicyAttachment<"SvcExternalAuth">[];
  readonly diagnostics: readonly Diagnostic[];
};

type Read = {
  readonly guard: Guard;
  /** The reason why the service cannot be used; undefined if it can. */
  readonly problem: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/** The guard of a Gateway that an invalid policy targets: no request passes. */
export const closedGuard: Guard = { asked: closedService, endpointRefs: [] };

/**
 * Finds the authorization of each Gateway. Of several policies that target one Gateway, the oldest applies,
 * even if it is invalid.
 */
export function createExternalAuthAttacher(
  isWatched: (namespace: string) => boolean,
): (world: World, gateways: readonly PlannedGateway[]) => GuardedGateways {
  const keep = createAttachmentKeeper<PolicyAttachment<"SvcExternalAuth">>();
  const read = trackedMemo((policy: ObjectOf<"SvcExternalAuth">, _: undefined, view): Read =>
    attempt(
      policy,
      () => {
        const place = { object: refOf(policy) };
        const { asked, endpointRef, ignored } = readExternalAuth(policy, view);
        return {
          guard: {
            asked: asked.ok ? [{ ...asked.value, required: true }] : closedService,
            endpointRefs: endpointRef === undefined ? [] : [endpointRef],
          },
          problem: asked.ok ? undefined : asked.error.message,
          diagnostics: ignored.map((message) => resourcePartlyIgnored(place, message)),
        };
      },
      { guard: { asked: closedService, endpointRefs: [] }, problem: "it cannot be read" },
    ),
  );
  return (world, gateways) => {
    const findGateway = createGatewayFinder(world, gateways);
    const owners = new Map<string, ObjectOf<"SvcExternalAuth">>();
    const guards = new Map<string, Guard>();
    const attachments: PolicyAttachment<"SvcExternalAuth">[] = [];
    const diagnostics: Diagnostic[] = [];
    const attached = withoutStandIns(world.SvcExternalAuth).filter(
      ({ metadata, spec }) => isWatched(metadata.namespace) && (spec.targetRefs ?? []).length > 0,
    );
    for (const policy of attached.toSorted((a, b) => compareAges(ageOf(a), ageOf(b)))) {
      const settings = read(policy, undefined, world);
      diagnostics.push(...settings.diagnostics);
      const ancestors = (policy.spec.targetRefs ?? []).flatMap((ref, index): PolicyAncestor | [] => {
        const found = findGateway(policy, ref);
        if (found === "foreign") return [];
        const key = `${policy.metadata.namespace}/${ref.name}`;
        const owner = owners.get(key);
        const verdict =
          found === "missing" ? missingGateway(policy, ref) : judge(key, owner, policy, settings.problem);
        if (found !== "missing" && owner === undefined) {
          owners.set(key, policy);
          guards.set(key, settings.guard);
        }
        diagnostics.push(
          ...describeVerdict(
            {
              object: refOf(policy),
              // For every target, the fault is in the reference to the service.
              field: verdict.reason === "Invalid" ? fieldOfService(policy) : `spec.targetRefs[${index}]`,
            },
            verdict,
          ),
        );
        return ancestorOf(policy, ref, verdict);
      });
      attachments.push(keep({ object: policy, ancestors }));
    }
    return { guards, attachments, diagnostics };
  };
}

/** The field that names the service. */
const fieldOfService = ({ spec }: ObjectOf<"SvcExternalAuth">): string =>
  spec.http?.url === undefined ? "spec.backendRef" : "spec.http.url";

function judge(
  gateway: string,
  owner: ObjectOf<"SvcExternalAuth"> | undefined,
  policy: ObjectOf<"SvcExternalAuth">,
  problem: string | undefined,
): Verdict {
  if (owner !== undefined) {
    const why = describePrecedence(owner, policy);
    const message = `SvcExternalAuth ${nameOf(refOf(owner))} applies to Gateway ${gateway}, because it ${why}`;
    return { reason: "Conflicted", message };
  }
  if (problem !== undefined) {
    return { reason: "Invalid", message: `All requests to Gateway ${gateway} are answered 503: ${problem}` };
  }
  return { reason: "Accepted", message: `All requests to Gateway ${gateway} are authorized by this service` };
}
