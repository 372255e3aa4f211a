import { formatCidr, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import type { World } from "../../../world.ts";
import { ageOf, compareAges, describePrecedence } from "../../age.ts";
import { attempt } from "../../attempt.ts";
import { withoutStandIns } from "../../closures.ts";
import { rangesLeftOut } from "../../diagnostics/references.ts";
import type { Diagnostic } from "../../finding.ts";
import { readObservation } from "../../observation.ts";
import { memo } from "../../incremental/memo.ts";
import {
  createAttachmentKeeper,
  type PolicyAncestor,
  type PolicyAttachment,
} from "../../policy-ancestors.ts";
import { transportOf } from "../kinds.ts";
import { listenersOf, type PlannedGateway } from "../listeners/gateways.ts";
import type { PortPolicy, PortPolicies, ClientTraffic } from "../model.ts";
import { portsOf } from "../scopes/ports.ts";
import {
  ancestorOf,
  createGatewayFinder,
  describeVerdict,
  missingGateway,
  type Verdict,
} from "./policy-targets.ts";

type Policy = ObjectOf<"ClientTrafficPolicy">;
/** The port space of a Gateway. It is the same text for Gateways that share their ports. */
export type PortSpaceOf<G extends PlannedGateway> = (gateway: G) => string;

type Settings = {
  readonly ofPort: PortPolicy;
  /** Whether PROXY protocol headers are required, but no entry of the trusted peers is valid. */
  readonly rejectsEveryPeer: boolean;
  readonly diagnostics: readonly Diagnostic[];
};

/** A target of a policy, with the sockets that the policy applies to. */
type Claim = {
  readonly policy: Policy;
  readonly index: number;
  /** Whether the target is a listener, which is more specific than a Gateway. */
  readonly isSpecific: boolean;
  readonly sockets: readonly string[];
  readonly missing: Verdict | undefined;
  /**
   * The name of an older Gateway that shares a socket of the target and decides how connections are accepted
   * there, with the reason for its precedence, for messages.
   */
  readonly elder: string | undefined;
};

const settingsOf = memo((policy: Policy): Settings =>
  attempt(policy, () => readSettings(policy), {
    // A policy that restricts peers and cannot be read admits none of them.
    ofPort: { proxyProtocol: { accepted: true, trustedPeers: [] } },
    rejectsEveryPeer: true,
  }),
);

const observationFields = { fields: "spec.accessLog.fields" };

function readSettings(policy: Policy): Settings {
  const { enabled = false, trustedSources = [] } = policy.spec.proxyProtocol ?? {};
  const { maxConnections } = policy.spec;
  const { cidrs, refused } = readCidrs(trustedSources);
  const object = refOf(policy);
  const place = { object, field: "spec.proxyProtocol.trustedSources" };
  const observed = readObservation(object, observationFields, {
    accessLog: policy.spec.accessLog?.enabled,
    fields: policy.spec.accessLog?.fields,
    tracing: policy.spec.tracing,
  });
  return {
    ofPort: {
      proxyProtocol: { accepted: enabled, trustedPeers: enabled ? cidrs.map(formatCidr) : [] },
      ...(maxConnections !== undefined && { maxConnections }),
      ...(observed.observation && { observation: observed.observation }),
    },
    rejectsEveryPeer: enabled && refused.length > 0 && cidrs.length === 0,
    diagnostics: [
      ...(refused.length === 0 ? [] : [rangesLeftOut(place, "The list of trusted peers", refused)]),
      ...observed.diagnostics,
    ],
  };
}

/**
 * Finds the policy of each port. The PROXY protocol header precedes everything that distinguishes the listeners of
 * a port, so they share one policy: that of the oldest policy that names one of the listeners, otherwise that of
 * the oldest policy that names the Gateway. If Gateways share a port, only policies of the oldest Gateway count.
 */
export function createClientTrafficReader<G extends PlannedGateway>(
  spaceOf: PortSpaceOf<G>,
): (world: World, gateways: readonly G[]) => ClientTraffic<G> {
  const keep = createAttachmentKeeper<PolicyAttachment<"ClientTrafficPolicy">>();
  return (world, gateways) => {
    const policies = withoutStandIns(world.ClientTrafficPolicy).toSorted((a, b) =>
      compareAges(ageOf(a), ageOf(b)),
    );
    const findGateway = createGatewayFinder(world, gateways);
    const holders = holdersOf(gateways, spaceOf);
    const claims = policies.flatMap((policy) =>
      policy.spec.targetRefs.flatMap((ref, index): Claim | [] => {
        const found = findGateway(policy, ref);
        if (found === "foreign") return [];
        const isSpecific = ref.sectionName !== undefined;
        if (found === "missing") {
          return {
            ...{ policy, index, isSpecific, sockets: [], elder: undefined },
            missing: missingGateway(policy, ref),
          };
        }
        const { sockets, missing } = socketsNamed(found, ref.sectionName, spaceOf);
        const elder = sockets.map((socket) => holders.get(socket)).find((one) => one !== found);
        return {
          ...{ policy, index, isSpecific, missing },
          sockets: sockets.filter((socket) => holders.get(socket) === found),
          elder:
            elder &&
            `Gateway ${nameOf(refOf(elder.gateway))} shares the port and ${describePrecedence(elder.gateway, found.gateway)}`,
        };
      }),
    );
    const owners = new Map<string, Claim>();
    for (const claim of [...claims.filter(isOfListener), ...claims.filter((one) => !isOfListener(one))]) {
      for (const socket of claim.sockets) if (!owners.has(socket)) owners.set(socket, claim);
    }
    const verdicts = new Map(claims.map((claim) => [claim, judge(claim, claims, owners)]));
    const byPolicy = Map.groupBy(claims, ({ policy }) => policy);
    return {
      of: (gateway) => policiesOf(gateway, spaceOf, owners),
      attachments: policies.map((policy) =>
        keep({
          object: policy,
          ancestors: (byPolicy.get(policy) ?? []).map((claim): PolicyAncestor =>
            ancestorOf(policy, targetOf(claim), verdicts.get(claim) ?? accepted("")),
          ),
        }),
      ),
      diagnostics: [
        ...policies.flatMap((policy) => settingsOf(policy).diagnostics),
        ...[...verdicts].flatMap(([{ policy, index }, verdict]) =>
          describeVerdict({ object: refOf(policy), field: `spec.targetRefs[${index}]` }, verdict),
        ),
      ],
    };
  };
}

function policiesOf<G extends PlannedGateway>(
  gateway: G,
  spaceOf: PortSpaceOf<G>,
  owners: ReadonlyMap<string, Claim>,
): PortPolicies | undefined {
  const found = new Map<number, PortPolicy>();
  for (const port of portsOf(gateway)) {
    const owner = owners.get(`${spaceOf(gateway)} ${port}`);
    if (owner !== undefined) found.set(port, settingsOf(owner.policy).ofPort);
  }
  return found.size === 0 ? undefined : found;
}

/** The oldest Gateway of each socket. */
function holdersOf<G extends PlannedGateway>(
  gateways: readonly G[],
  spaceOf: PortSpaceOf<G>,
): ReadonlyMap<string, G> {
  const holders = new Map<string, G>();
  for (const planned of gateways.toSorted((a, b) => compareAges(ageOf(a.gateway), ageOf(b.gateway)))) {
    for (const socket of socketsNamed(planned, undefined, spaceOf).sockets) {
      if (!holders.has(socket)) holders.set(socket, planned);
    }
  }
  return holders;
}

const isOfListener = ({ isSpecific }: Claim): boolean => isSpecific;

const targetOf = ({ policy, index }: Claim): Policy["spec"]["targetRefs"][number] =>
  policy.spec.targetRefs[index] ?? { name: "" };

/** The sockets of a Gateway, or of one of its listeners, that accept TCP connections. */
function socketsNamed<G extends PlannedGateway>(
  planned: G,
  sectionName: string | undefined,
  spaceOf: PortSpaceOf<G>,
): Pick<Claim, "sockets" | "missing"> {
  const { gateway, own } = planned;
  const listeners =
    sectionName === undefined
      ? listenersOf(planned)
      : own.listeners.filter(({ name }) => name === sectionName);
  if (sectionName !== undefined && listeners.length === 0) {
    const message = `Gateway ${nameOf(refOf(gateway))} has no listener ${sectionName}`;
    return { sockets: [], missing: { reason: "TargetNotFound", message } };
  }
  const ports = new Set(
    listeners.flatMap(({ port, protocol, serves }) =>
      serves && protocol !== undefined && transportOf(protocol) === "TCP" ? port : [],
    ),
  );
  return { sockets: [...ports].map((port) => `${spaceOf(planned)} ${port}`), missing: undefined };
}

const accepted = (message: string): Verdict => ({ reason: "Accepted", message });

function judge(claim: Claim, claims: readonly Claim[], owners: ReadonlyMap<string, Claim>): Verdict {
  const { policy, sockets, missing, elder } = claim;
  if (missing !== undefined) return missing;
  const target = describeTarget(claim);
  if (elder !== undefined && sockets.length === 0) {
    const message = `${elder}, so its policies apply to ${target}`;
    return { reason: "Conflicted", message };
  }
  // Claims are sorted by age.
  const older = claims.find((one) => describeTarget(one) === target);
  const lost = sockets.filter((socket) => owners.get(socket)?.policy !== policy);
  const winner =
    older !== claim ? older : lost.length === sockets.length ? owners.get(lost[0] ?? "") : undefined;
  if (winner !== undefined) {
    const other = nameOf(refOf(winner.policy));
    return { reason: "Conflicted", message: `ClientTrafficPolicy ${other} applies to ${target}` };
  }
  if (settingsOf(policy).rejectsEveryPeer) {
    const message = `No entry of trustedSources is valid, so every connection to ${target} is closed`;
    return { reason: "Invalid", message };
  }
  if (sockets.length === 0)
    return accepted(`The policy applies to ${target}, which accepts no connections at present`);
  return accepted(
    lost.length === 0 && elder === undefined
      ? `The policy applies to ${target}`
      : `The policy applies to ${target}, except where a policy of a listener or another Gateway has the port`,
  );
}

function describeTarget(claim: Claim): string {
  const { name, sectionName } = targetOf(claim);
  const gateway = `Gateway ${claim.policy.metadata.namespace}/${name}`;
  return sectionName === undefined ? gateway : `listener ${sectionName} of ${gateway}`;
}
