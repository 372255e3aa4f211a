/** Assigns SvcBackendPolicies to Services. See docs/features/backend-policy.md. */
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf, type ObjectRef } from "../../api/object.ts";
import { createLookup, type Lookup, type World } from "../../world.ts";
import { ageOf, compareAges, describePrecedence } from "../age.ts";
import { attempt } from "../attempt.ts";
import { withoutStandIns } from "../closures.ts";
import { policyConflict, policyTargetNotFound, tlsPolicyTargetNotFound } from "../diagnostics/policies.ts";
import type { Diagnostic } from "../finding.ts";
import { memo, trackedMemo } from "../incremental/memo.ts";
import { createAttachmentKeeper, type PolicyAncestor, type PolicyAttachment } from "../policy-ancestors.ts";
import { isEmptySettings, readPolicySettings, type ServiceSettings } from "./policy-settings.ts";
import { createPortSettingsFitter } from "./port-settings-sizes.ts";
import {
  closedPorts,
  readPortConnections,
  type PortConnection,
  type PortConnections,
} from "./port-connections.ts";

type Policy = ObjectOf<"SvcBackendPolicy">;
type Attachment = PolicyAttachment<"SvcBackendPolicy">;

type BackendPolicies = {
  /** Settings by `namespace/name` of the Service. Policies without a usable setting are not included. */
  readonly byService: ReadonlyMap<string, ServiceSettings>;
  /** The connection settings of ports, by `namespace/name` of the Service and number of the port. */
  readonly ports: ReadonlyMap<string, ReadonlyMap<number, PortConnection>>;
  /** Returns the resource with the TLS settings of this name. */
  readonly tlsResource: (name: string) => Resource | undefined;
  /** Whether a policy names a Secret. */
  readonly namesSecrets: boolean;
  readonly attachments: readonly Attachment[];
  readonly diagnostics: readonly Diagnostic[];
};

const settingsOf = memo((policy: Policy) =>
  attempt(policy, () => readPolicySettings(policy), { settings: {}, ignored: ["spec"] }),
);

const connectionsOf = trackedMemo((policy: Policy, _: undefined, view) =>
  attempt(policy, () => readPortConnections(policy, view), closedPorts(policy)),
);

/**
 * Translates the policies of all Services. The result is the same value until policies, Services, or the
 * Secrets that policies name change.
 */
export function createPolicyTranslator(): (world: World) => BackendPolicies {
  const keep = createAttachmentKeeper<Attachment>();
  let last: { readonly world: World; readonly output: BackendPolicies } | undefined;
  return (world) => {
    const isSame =
      last !== undefined &&
      last.world.SvcBackendPolicy === world.SvcBackendPolicy &&
      last.world.Service === world.Service &&
      (last.world.Secret === world.Secret || !last.output.namesSecrets);
    if (last === undefined || !isSame) last = { world, output: attach(world, keep) };
    return last.output;
  };
}

/**
 * Assigns policies. Of several policies that target a Service, the oldest applies, even if its settings are invalid.
 */
function attach(world: World, keep: (attachment: Attachment) => Attachment): BackendPolicies {
  const lookup = createLookup(world);
  const owners = new Map<string, Policy>();
  const byService = new Map<string, ServiceSettings>();
  const ports = new Map<string, PortConnections["ports"]>();
  const resources = new Map<string, Resource>();
  const attachments: Attachment[] = [];
  const diagnostics: Diagnostic[] = [];
  const policies = withoutStandIns(world.SvcBackendPolicy);
  const fit = createPortSettingsFitter(policies, (policy) => connectionsOf(policy, undefined, world));
  for (const object of policies.toSorted((a, b) => compareAges(ageOf(a), ageOf(b)))) {
    const settings = settingsOf(object);
    const connections = fit(object, connectionsOf(object, undefined, world));
    diagnostics.push(...settings.diagnostics, ...connections.diagnostics);
    const ancestors = object.spec.targetRefs.map(({ name }, index): PolicyAncestor => {
      const { namespace } = object.metadata;
      const key = `${namespace}/${name}`;
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, object);
      const verdict = judge({ settings, connections, key, object, owner, lookup });
      if (verdict.diagnostic !== undefined) {
        const place = { object: refOf(object), field: `spec.targetRefs[${index}].name` };
        diagnostics.push(verdict.diagnostic(place));
      }
      if (owner === undefined) {
        if (!isEmptySettings(settings.settings)) byService.set(key, settings.settings);
        if (connections.ports.size > 0) ports.set(key, connections.ports);
        for (const { tls } of connections.ports.values()) if (tls) resources.set(tls.name, tls.resource);
        diagnostics.push(...missingPorts(object, lookup("Service", namespace, name)));
      }
      const target = { group: "", kind: "Service", namespace, name };
      return { target, reason: verdict.reason, message: verdict.message };
    });
    attachments.push(keep({ object, ancestors }));
  }
  return {
    byService,
    ports,
    tlsResource: (name) => resources.get(name),
    namesSecrets: policies.some(({ spec }) => spec.ports?.some(({ tls }) => tls?.secretRef !== undefined)),
    attachments,
    diagnostics,
  };
}

/**
 * Findings about ports of a policy that a Service lacks. For a Service without any port (ExternalName), every
 * port is accepted.
 */
function missingPorts(object: Policy, service: ObjectOf<"Service"> | undefined): readonly Diagnostic[] {
  const present = service?.spec?.ports ?? [];
  if (present.length === 0) return [];
  return (object.spec.ports ?? []).flatMap(({ port, tls }, index) => {
    if (present.some((one) => one.port === port)) return [];
    const place = { object: refOf(object), field: `spec.ports[${index}].port` };
    const missing = `Port ${port} of Service ${service === undefined ? "" : nameOf(refOf(service))}`;
    return [(tls === undefined ? policyTargetNotFound : tlsPolicyTargetNotFound)(place, missing)];
  });
}

type Verdict = Pick<PolicyAncestor, "reason" | "message"> & {
  readonly diagnostic?: (place: { readonly object: ObjectRef; readonly field: string }) => Diagnostic;
};

function judge(target: {
  readonly settings: ReturnType<typeof readPolicySettings>;
  readonly connections: PortConnections;
  /** `namespace/name` of the Service. */
  readonly key: string;
  readonly object: Policy;
  /** The older policy that applies to the Service; undefined if this one does. */
  readonly owner: Policy | undefined;
  readonly lookup: Lookup;
}): Verdict {
  const { settings, connections, key, object, owner, lookup } = target;
  const [namespace = "", name = ""] = key.split("/");
  if (lookup("Service", namespace, name) === undefined) {
    const message = `Service ${key} does not exist`;
    return {
      reason: "TargetNotFound",
      message,
      diagnostic: (place) => policyTargetNotFound(place, `Service ${key}`),
    };
  }
  if (owner !== undefined) {
    const winner = `SvcBackendPolicy ${nameOf(refOf(owner))}`;
    const why = describePrecedence(owner, object);
    const message = `${winner} applies to Service ${key}, because it ${why}`;
    return {
      reason: "Conflicted",
      message,
      diagnostic: (place) => policyConflict(place, key, winner, why),
    };
  }
  const { ignored } = settings;
  const { unusable } = connections;
  if (unusable.length > 0) {
    const message = `Requests to ports of Service ${key} are answered 502, because their TLS cannot be used: ${unusable.join(", ")}`;
    return { reason: "Invalid", message };
  }
  const isUsable = !isEmptySettings(settings.settings) || connections.ports.size > 0;
  if (ignored.length > 0 && !isUsable) {
    return { reason: "Invalid", message: `None of the settings is valid: ${ignored.join(", ")}` };
  }
  const exception =
    ignored.length === 0 ? "" : `, except for ${ignored.join(", ")}, whose values are not valid`;
  return { reason: "Accepted", message: `The policy applies to Service ${key}${exception}` };
}
