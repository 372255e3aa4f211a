/**
 * Findings, Events and statuses of policies whose latest version is not valid. closures.ts has the objects that
 * they close. See docs/policy-status.md, "Policies that are not valid".
 */
import type { KindName, ObjectOf } from "../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";
import {
  effectOfInvalid,
  invalidityOf,
  isStandIn,
  standInKinds,
  targetsOfStandIn,
  type ClosedTarget,
} from "../api/stand-in.ts";
import { createLookup, type World } from "../world.ts";
import type { GatewaysByService } from "./backends/tls-policies.ts";
import type { DesiredCondition } from "./condition.ts";
import { policyInvalid } from "./diagnostics/policies.ts";
import type { DesiredEvent, Diagnostic } from "./finding.ts";
import { gatewayGroup } from "./gateway/kinds.ts";
import { listMemo, memo } from "./incremental/memo.ts";
import {
  createAttachmentKeeper,
  type BackendTlsAttachment,
  type PolicyAttachment,
  type PolicyKind,
} from "./policy-ancestors.ts";
import { joinSentences } from "./text.ts";

/**
 * Describes the faults of the latest version of a policy and their consequence; undefined if the version is valid.
 */
export function describeInvalidPolicy(object: object): string | undefined {
  const invalidity = invalidityOf(object);
  return (
    invalidity && `${joinSentences(invalidity.problems)}; ${effectOfInvalid(object, !isStandIn(object))}`
  );
}

/** The condition of a policy whose latest version is not valid. */
const refusalOf = (object: object) => ({
  reason: "Invalid" as const,
  message: describeInvalidPolicy(object) ?? "",
});

/** `Accepted=False` of a policy whose latest version is not valid; undefined if it is valid. */
export const invalidPolicyCondition = (object: object): DesiredCondition | undefined =>
  invalidityOf(object) && { type: "Accepted", status: "False", ...refusalOf(object) };

const invalidOf = memo((list: readonly KubeObject[]): readonly KubeObject[] =>
  list.filter((object) => invalidityOf(object) !== undefined),
);

const findingOf = memo((object: KubeObject) =>
  policyInvalid({ object: refOf(object) }, refusalOf(object).message),
);
const eventOf = memo((object: KubeObject): DesiredEvent => ({
  object: refOf(object),
  type: "Warning",
  reason: "InvalidObject",
  message: findingOf(object).message,
}));
const findingsOf = listMemo((objects: readonly KubeObject[]) => objects.map(findingOf));
const eventsOf = listMemo((objects: readonly KubeObject[]) => objects.map(eventOf));

/** The findings and Events about the policies of the served namespaces whose latest versions are not valid. */
export function invalidPolicyFindings(
  world: World,
  isWatched: (namespace: string) => boolean,
): { readonly diagnostics: readonly Diagnostic[]; readonly events: readonly DesiredEvent[] } {
  const objects = standInKinds
    .flatMap((kind: KindName) => invalidOf(world[kind]))
    .filter(({ metadata }) => isWatched(metadata.namespace ?? ""));
  return { diagnostics: findingsOf(objects, undefined), events: eventsOf(objects, undefined) };
}

/** The Gateways of this controller by `namespace/name`, and the World with all Gateways. */
type Gateways = { readonly world: World; readonly ours: ReadonlySet<string> };

/**
 * Adds the policies whose latest versions are not valid to attachments. Their status is `Invalid` at each
 * object that they target.
 */
export function createInvalidAttacher<K extends PolicyKind>(
  kinds: readonly K[],
): (attachments: readonly PolicyAttachment<K>[], gateways: Gateways) => readonly PolicyAttachment<K>[] {
  const keep = createAttachmentKeeper<PolicyAttachment<K>>();
  return (attachments, gateways) => {
    const invalid = kinds.flatMap((kind) => invalidOf(gateways.world[kind]) as readonly ObjectOf<K>[]);
    if (invalid.length === 0) return attachments;
    const valid = attachments.filter(({ object }) => invalidityOf(object) === undefined);
    const known = new Map<object, PolicyAttachment<K>>(attachments.map((one) => [one.object, one]));
    const added = invalid.flatMap((object): PolicyAttachment<K> | [] => {
      const targets =
        known.get(object)?.ancestors.map(({ target }) => target) ??
        (targetsOfStandIn(object) ?? []).flatMap((target) => targetOf(object, target, gateways));
      if (targets.length === 0) return [];
      return keep({ object, ancestors: targets.map((target) => ({ target, ...refusalOf(object) })) });
    });
    return [...valid, ...added];
  };
}

type Target = PolicyAttachment["ancestors"][number]["target"];

/**
 * The object that a policy of the kind can be attached to; empty if the object is of another kind, or of
 * another controller.
 */
function targetOf(
  { kind, metadata: { namespace = "" } }: KubeObject,
  { kind: of, name, sectionName }: ClosedTarget,
  { world, ours }: Gateways,
): Target | [] {
  if (kind === "SvcBackendPolicy") {
    return of === "Service" ? { group: "", kind: of, namespace, name } : [];
  }
  const isForeign =
    createLookup(world)("Gateway", namespace, name) !== undefined && !ours.has(`${namespace}/${name}`);
  if (of !== "Gateway" || isForeign) return [];
  return {
    group: gatewayGroup,
    kind: of,
    namespace,
    name,
    ...(sectionName !== undefined && { sectionName }),
  };
}

/** Adds invalid BackendTLSPolicies, whose statuses refer to the Gateways that send traffic to their Services. */
export function createInvalidTlsAttacher(): (
  attachments: readonly BackendTlsAttachment[],
  world: World,
  gatewaysByService: () => GatewaysByService,
) => readonly BackendTlsAttachment[] {
  const keep = createAttachmentKeeper<BackendTlsAttachment>();
  return (attachments, world, gatewaysByService) => {
    const invalid = invalidOf(world.BackendTLSPolicy) as readonly ObjectOf<"BackendTLSPolicy">[];
    if (invalid.length === 0) return attachments;
    const byService = gatewaysByService();
    const valid = attachments.filter(({ object }) => invalidityOf(object) === undefined);
    const known = new Map<object, BackendTlsAttachment>(attachments.map((one) => [one.object, one]));
    const added = invalid.map((object) => {
      const { namespace } = object.metadata;
      const services = (targetsOfStandIn(object) ?? []).filter(({ kind }) => kind === "Service");
      const gateways = services.flatMap(({ name }) => [...(byService.get(`${namespace}/${name}`) ?? [])]);
      const found = [...new Set(gateways)].map(({ metadata }) => ({
        namespace: metadata.namespace,
        name: metadata.name,
      }));
      const of = known.get(object)?.ancestors.map(({ gateway }) => gateway) ?? found;
      const condition = invalidPolicyCondition(object);
      const conditions = condition === undefined ? [] : [condition];
      return keep({ object, ancestors: of.map((gateway) => ({ gateway, conditions })) });
    });
    return [...valid, ...added];
  };
}

/** The names of the Gateways that have a status of this controller. */
export const namesOfGateways = memo(
  (statuses: readonly { readonly object: KubeObject }[]): ReadonlySet<string> =>
    new Set(statuses.map(({ object }) => nameOf(refOf(object)))),
);
