/**
 * Assigns BackendTLSPolicies to Service ports, and computes the status of each at the Gateways. See
 * docs/features/backend-tls.md.
 */
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { backendTlsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf } from "../../api/object.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { ageOf, compareAges, compareText, describePrecedence } from "../age.ts";
import { attempt } from "../attempt.ts";
import { withoutStandIns } from "../closures.ts";
import { conditionOf, type DesiredCondition } from "../condition.ts";
import { conditionFinding } from "../diagnostics/gateway.ts";
import {
  policyConflict,
  tlsPolicyTargetNotFound,
  tlsPolicyTargetOfOtherKind,
} from "../diagnostics/policies.ts";
import type { Diagnostic } from "../finding.ts";
import { trackedMemo } from "../incremental/memo.ts";
import { createAttachmentKeeper, type BackendTlsAttachment } from "../policy-ancestors.ts";
import type { TranslateSettings } from "../settings.ts";
import type { EndpointRef } from "./service-port.ts";
import { readTlsPolicy, type TlsPolicySettings } from "./tls-policy-settings.ts";
import { createAuthorityFitter } from "./tls-policy-sizes.ts";

type Policy = ObjectOf<"BackendTLSPolicy">;

/** The Gateways with routes that send traffic to a Service, by `namespace/name` of the Service. */
export type GatewaysByService = ReadonlyMap<string, ReadonlySet<ObjectOf<"Gateway">>>;

export type TlsPolicies = {
  /** Returns the policy (`namespace/name`) that applies to connections to a Service port; undefined for cleartext. */
  readonly of: (ref: EndpointRef) => string | undefined;
  /**
   * A text for each Service (`namespace/name`) that determines the results of `of`: equal texts mean equal results.
   */
  readonly byService: ReadonlyMap<string, string>;
  /** Returns the resource for a policy. */
  readonly resource: (policy: string) => Resource | undefined;
  readonly attachments: readonly BackendTlsAttachment[];
  readonly diagnostics: readonly Diagnostic[];
};

export const noTlsPolicies: TlsPolicies = {
  of: () => undefined,
  byService: new Map(),
  resource: () => undefined,
  attachments: [],
  diagnostics: [],
};

/** The kinds that a result depends on, besides the Gateways. */
const inputs = ["BackendTLSPolicy", "Service", "ConfigMap", "ClusterTrustBundle"] as const;

/** Translates the policies of all Service ports. The result is the same value until one of its inputs changes. */
export function createTlsPolicyTranslator(
  settings: Pick<TranslateSettings, "backendTlsStrict" | "trustBundles">,
): (world: World, gatewaysByService: () => GatewaysByService) => TlsPolicies {
  const keep = createAttachmentKeeper<BackendTlsAttachment>();
  const read = trackedMemo((policy: Policy, _: undefined, view) =>
    attempt(policy, () => readTlsPolicy(policy, { ...settings, view }), unreadable),
  );
  type Last = {
    readonly world: World;
    readonly gateways: () => GatewaysByService;
    readonly output: TlsPolicies;
  };
  let last: Last | undefined;
  return (world, gateways) => {
    if (world.BackendTLSPolicy.length === 0) return noTlsPolicies;
    const known = last;
    const isSame = known?.gateways === gateways && inputs.every((kind) => known.world[kind] === world[kind]);
    if (known !== undefined && isSame) return known.output;
    const output = attach(world, gateways(), (policy) => read(policy, undefined, world), keep);
    last = { world, gateways, output };
    return output;
  };
}

/** The settings of a policy that cannot be read: no connections are made. */
const unreadable: Omit<TlsPolicySettings, "diagnostics"> = {
  tls: { hostname: "" },
  unaccepted: { reason: "Invalid", message: "The policy cannot be read" },
  unresolved: undefined,
};

/** One entry of `targetRefs`. */
type Target = {
  readonly service: string;
  /** The older policy that applies to the Service, or to the port of it; undefined if this one does. */
  readonly owner: Policy | undefined;
  /** The reason for the precedence of the older policy. */
  readonly why: string;
};

/**
 * Assigns policies. A port, by name, belongs to the oldest policy that names it; other ports belong to the
 * oldest policy that names the whole Service.
 */
function attach(
  world: World,
  gateways: GatewaysByService,
  read: (policy: Policy) => TlsPolicySettings,
  keep: (attachment: BackendTlsAttachment) => BackendTlsAttachment,
): TlsPolicies {
  const lookup = createLookup(world);
  const fit = createAuthorityFitter(world, read);
  const owners = new Map<string, Policy>();
  const settings = new Map<string, TlsPolicySettings>();
  const attachments: BackendTlsAttachment[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const object of withoutStandIns(world.BackendTLSPolicy).toSorted((a, b) =>
    compareAges(ageOf(a), ageOf(b)),
  )) {
    const own = fit(object, read(object));
    settings.set(nameOf(refOf(object)), own);
    diagnostics.push(...own.diagnostics);
    const refusal = own.unaccepted ?? own.unresolved;
    if (refusal !== undefined) {
      // A policy that falls back to unencrypted connections has a separate finding.
      const isClosed = own.unaccepted !== undefined && own.tls !== undefined;
      const consequence = isClosed ? "requests to its Services are answered 502" : undefined;
      diagnostics.push(conditionFinding({ object: refOf(object) }, refusal, consequence));
    }
    const targets = claim(object, owners, lookup, diagnostics);
    attachments.push(keep({ object, ancestors: ancestorsOf(targets, own, gateways) }));
  }
  const ownerOf = ({ key, port }: EndpointRef): Policy | undefined =>
    port.protocol === "UDP"
      ? undefined
      : ((port.name === undefined ? undefined : owners.get(ownerKey(key, port.name))) ?? owners.get(key));
  return {
    of(ref) {
      const owner = ownerOf(ref);
      const name = owner && nameOf(refOf(owner));
      return name === undefined || settings.get(name)?.tls === undefined ? undefined : name;
    },
    byService: describeOwners(owners, settings),
    resource(policy) {
      const tls = settings.get(policy)?.tls;
      return tls && encode(policy, tls);
    },
    attachments,
    diagnostics,
  };
}

/** Describes the effective policies of each Service, by section. */
function describeOwners(
  owners: ReadonlyMap<string, Policy>,
  settings: ReadonlyMap<string, TlsPolicySettings>,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [key, owner] of owners) {
    const [service = "", section = ""] = key.split("|");
    const name = nameOf(refOf(owner));
    const effect = settings.get(name)?.tls === undefined ? "" : name;
    texts.set(service, `${texts.get(service) ?? ""}${section}=${effect} `);
  }
  return texts;
}

const encode = (policy: string, tls: BackendTls): Resource => encodeResource(backendTlsKey(policy), tls);

const ownerKey = (service: string, section: string | undefined): string =>
  section === undefined ? service : `${service}|${section}`;

/** Makes a policy the owner of those targets that no older policy has. Only Services can be targets. */
function claim(
  object: Policy,
  owners: Map<string, Policy>,
  lookup: Lookup,
  diagnostics: Diagnostic[],
): readonly Target[] {
  const { namespace } = object.metadata;
  return object.spec.targetRefs.flatMap(({ group, kind, name, sectionName }, index): Target[] => {
    const service = `${namespace}/${name}`;
    const place = { object: refOf(object), field: `spec.targetRefs[${index}]` };
    if (group !== "" || kind !== "Service") {
      diagnostics.push(tlsPolicyTargetOfOtherKind(place, { group, kind }));
      return [];
    }
    const found = lookup("Service", namespace, name);
    const hasSection =
      sectionName === undefined || found?.spec?.ports?.some((port) => port.name === sectionName) === true;
    if (found === undefined || !hasSection) {
      const what = `Service ${service}`;
      const missing = found === undefined ? what : `Port ${sectionName} of ${what}`;
      diagnostics.push(tlsPolicyTargetNotFound(place, missing));
      return [];
    }
    const key = ownerKey(service, sectionName);
    const owner = owners.get(key);
    const why = owner === undefined ? "" : describePrecedence(owner, object);
    if (owner === undefined) owners.set(key, object);
    else if (owner !== object) {
      diagnostics.push(policyConflict(place, service, `BackendTLSPolicy ${nameOf(refOf(owner))}`, why));
    }
    return [{ service, owner: owner === object ? undefined : owner, why }];
  });
}

/**
 * The conditions of the policy at each Gateway with routes that send traffic to one of its Services (Gateway
 * API, PolicyAncestorStatus).
 */
function ancestorsOf(
  targets: readonly Target[],
  { unaccepted, unresolved }: TlsPolicySettings,
  gateways: GatewaysByService,
): BackendTlsAttachment["ancestors"] {
  const byGateway = new Map<ObjectOf<"Gateway">, Target[]>();
  for (const target of targets) {
    for (const gateway of gateways.get(target.service) ?? []) {
      const list = byGateway.get(gateway);
      if (list === undefined) byGateway.set(gateway, [target]);
      else list.push(target);
    }
  }
  const resolved = conditionOf("ResolvedRefs", unresolved, {
    reason: "ResolvedRefs",
    message: "All references are resolved",
  });
  return [...byGateway]
    .map(([{ metadata }, own]) => ({
      gateway: { namespace: metadata.namespace, name: metadata.name },
      conditions: [acceptedCondition(own, unaccepted), resolved],
    }))
    .sort((a, b) => compareText(nameOf(a.gateway), nameOf(b.gateway)));
}

/** The condition of a policy. It is in conflict only if older policies apply to all of its targets. */
function acceptedCondition(
  targets: readonly Target[],
  unaccepted: TlsPolicySettings["unaccepted"],
): DesiredCondition {
  const lost = targets.flatMap(({ service, owner, why }) =>
    owner === undefined ? [] : [{ service, owner, why }],
  );
  const conflicts = lost.map(
    ({ service, owner, why }) =>
      `Service ${service} already uses policy ${nameOf(refOf(owner))}, which ${why}`,
  );
  const conflict =
    lost.length === targets.length ? { reason: "Conflicted", message: conflicts.join("; ") } : undefined;
  const message = ["The policy applies", ...conflicts].join("; ");
  return conditionOf("Accepted", conflict ?? unaccepted, { reason: "Accepted", message });
}
