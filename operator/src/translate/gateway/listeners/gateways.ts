/** Gateways with their ListenerSets: their listeners, and which of them serve. See docs/gateway-api.md. */
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import { ageOf, compareAges, type Age } from "../../age.ts";
import type { ConditionReason } from "../../condition.ts";
import { listMemo, memo, trackedMemo } from "../../incremental/memo.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import type { TranslateSettings } from "../../settings.ts";
import type { FilterFindings } from "../filters/filter-context.ts";
import { familyOf, gatewayGroup, hasHostnames, transportOf, type ListenerOwner } from "../kinds.ts";
import type { PortPolicies, Guard } from "../model.ts";
import { readBackendCertificate, type GatewayCertificate } from "../routes/backend-certificate.ts";
import { readListeners, type ParsedListener } from "./listener.ts";
import { admits, readNamespaceRule } from "./namespaces.ts";

/** A listener among all listeners of its Gateway. */
export type Listener = ParsedListener & {
  /** The conflict with an earlier listener, because of which this one is not accepted. */
  readonly conflict: ConditionReason | undefined;
  /** Whether it is bound, and routes attached to it are served. */
  readonly serves: boolean;
  /**
   * Whether handshakes for its name are rejected, even if another listener of the port covers the name. A listener
   * that closes its name does not serve, and has the name by the same rules as one that serves.
   */
  readonly closes: boolean;
};

/** The listeners of a Gateway itself, or of one ListenerSet. */
export type ListenerGroup = {
  readonly owner: ListenerOwner;
  readonly listeners: readonly Listener[];
  /** The reason why the Gateway does not accept this ListenerSet; undefined if it does. */
  readonly refusal: ConditionReason | undefined;
};

export type PlannedGateway = {
  readonly gateway: ObjectOf<"Gateway">;
  readonly age: Age;
  /** The client certificate for backends with TLS; undefined if the Gateway has none. */
  readonly backendCertificate: GatewayCertificate | undefined;
  readonly own: ListenerGroup;
  /** Oldest first. */
  readonly sets: readonly ListenerGroup[];
  /** The authorization of every request to the Gateway. */
  readonly guard?: Guard;
  /** The connection settings by the port that clients use. On other ports, only the flags of the proxy apply. */
  readonly traffic?: PortPolicies;
};

/** All listeners of a Gateway, with those of its ListenerSets. */
export const listenersOf = ({ own, sets }: Pick<PlannedGateway, "own" | "sets">): readonly Listener[] =>
  [own, ...sets].flatMap(({ listeners }) => listeners);

/** Returns the Gateway with each of its listeners replaced by the result of `change`. */
export function withListeners<G extends PlannedGateway>(
  gateway: G,
  change: (listener: Listener) => Listener,
): G {
  const inGroup = (group: ListenerGroup): ListenerGroup => ({
    ...group,
    listeners: group.listeners.map(change),
  });
  return { ...gateway, own: inGroup(gateway.own), sets: gateway.sets.map(inGroup) };
}

type ReadGateway = Pick<PlannedGateway, "gateway" | "backendCertificate">;

type ReadGroup = Omit<ListenerGroup, "listeners"> & { readonly listeners: readonly ParsedListener[] };

/** Plans each Gateway, oldest first. A plan is reused until something that its listeners depend on changes. */
export function createGatewayPlanner({
  trustBundles,
  allowExternalName,
}: Pick<TranslateSettings, "trustBundles" | "allowExternalName">): (
  world: World,
  isServed: (gateway: ObjectOf<"Gateway">) => boolean,
) => readonly PlannedGateway[] {
  const readGateway = trackedMemo((gateway: ObjectOf<"Gateway">, _: undefined, view): ReadGateway => ({
    gateway,
    backendCertificate: readBackendCertificate(gateway, view),
  }));
  const readOwn = trackedMemo((owner: ObjectOf<"Gateway">, _: undefined, view): ReadGroup => ({
    owner,
    listeners: readListeners(owner, owner, { view, trustBundles, allowExternalName }),
    refusal: undefined,
  }));
  const readSet = trackedMemo(
    (owner: ObjectOf<"ListenerSet">, gateway: ObjectOf<"Gateway">, view): ReadGroup => ({
      owner,
      listeners: readListeners(owner, gateway, { view, trustBundles, allowExternalName }),
      refusal: refuseSet(owner, gateway, view),
    }),
  );
  const merge = listMemo(mergeGroups);
  return (world, isServed) => {
    const sets = Map.groupBy(world.ListenerSet, (set) => {
      const parent = parentOf(set);
      return parent && `${parent.namespace}/${parent.name}`;
    });
    return world.Gateway.filter(isServed)
      .map((gateway) => {
        const { namespace, name } = gateway.metadata;
        const ofGateway = (sets.get(`${namespace}/${name}`) ?? [])
          .toSorted((a, b) => compareAges(ageOf(a), ageOf(b)))
          .map((set) => readSet(set, gateway, world));
        return merge(
          [readOwn(gateway, undefined, world), ...ofGateway],
          readGateway(gateway, undefined, world),
        );
      })
      .sort((a, b) => compareAges(a.age, b.age));
  };
}

/** The Gateway that a ListenerSet belongs to; undefined if its parent is not a Gateway. */
export function parentOf({ metadata, spec }: ObjectOf<"ListenerSet">): NamespacedName | undefined {
  const { group = gatewayGroup, kind = "Gateway", namespace = metadata.namespace, name } = spec.parentRef;
  return group === gatewayGroup && kind === "Gateway" ? { namespace, name } : undefined;
}

/** The findings and references of the filters of all serving listeners of the Gateway and its ListenerSets. */
export const filterFindingsOf = memo((gateway: PlannedGateway): readonly FilterFindings[] =>
  listenersOf(gateway)
    .filter(({ serves, filters }) => serves && filters.steps.length > 0)
    .map(({ filters }) => filters.findings),
);

/** The findings about the client certificates that listeners of the Gateway and its ListenerSets request. */
export const clientFindingsOf = memo((gateway: PlannedGateway): readonly Diagnostic[] =>
  listenersOf(gateway).flatMap(({ clientFindings }) => clientFindings),
);

function refuseSet(
  set: ObjectOf<"ListenerSet">,
  { metadata, spec }: ObjectOf<"Gateway">,
  view: View,
): ConditionReason | undefined {
  const rule = readNamespaceRule(spec.allowedListeners?.namespaces, "None");
  return admits(rule, metadata.namespace, set.metadata.namespace, view)
    ? undefined
    : {
        reason: "NotAllowed",
        message: `allowedListeners of Gateway ${metadata.namespace}/${metadata.name} does not allow ListenerSets from namespace ${set.metadata.namespace}`,
      };
}

/**
 * Merges listener groups. Of conflicting listeners, the first one serves: those of the Gateway precede those of
 * its ListenerSets, and older ListenerSets precede newer ones.
 */
function mergeGroups(
  groups: readonly ReadGroup[],
  { gateway, backendCertificate }: ReadGateway,
): PlannedGateway {
  /** The listeners on each port, by transport and port. */
  const taken = new Map<string, ParsedListener[]>();
  /** The listeners that close their names, by transport, port, family and host. */
  const closed = new Map<string, ParsedListener>();
  const [own, ...sets] = groups.map((group): ListenerGroup => {
    const listeners = group.listeners.map((listener): Listener => {
      const { protocol, port, hostname, unaccepted, failsClosed } = listener;
      const isCandidate = group.refusal === undefined && (unaccepted === undefined || failsClosed);
      if (!isCandidate || protocol === undefined)
        return { ...listener, conflict: undefined, serves: false, closes: false };
      const place = `${transportOf(protocol)}/${port}`;
      const name = `${place} ${familyOf(protocol)} ${hostname.host}`;
      const before = taken.get(place) ?? [];
      const closing = closed.get(name);
      const conflict = findConflict(
        listener,
        protocol,
        closing === undefined ? before : [...before, closing],
      );
      if (failsClosed) {
        if (conflict === undefined) closed.set(name, listener);
        return { ...listener, conflict: undefined, serves: false, closes: conflict === undefined };
      }
      if (conflict === undefined) taken.set(place, [...before, listener]);
      return { ...listener, conflict, serves: conflict === undefined, closes: false };
    });
    return { ...group, listeners };
  });
  return {
    gateway,
    age: ageOf(gateway),
    backendCertificate,
    // The group of the Gateway itself is always present.
    own: own ?? { owner: gateway, listeners: [], refusal: undefined },
    sets,
  };
}

/**
 * The name of the listener `other` in a message about listener `id`. It includes the object of `other` if that
 * is another one.
 */
export const nameFor = ({ id }: { readonly id: string }, other: ParsedListener): string => {
  const [kind, namespace, name] = other.id.split("/");
  const isNeighbour = id.startsWith(`${kind}/${namespace}/${name}/`);
  return isNeighbour ? `listener ${other.name}` : `listener ${other.name} of ${kind} ${namespace}/${name}`;
};

function findConflict(
  { id, port, hostname }: ParsedListener,
  protocol: NonNullable<ParsedListener["protocol"]>,
  before: readonly ParsedListener[],
): ConditionReason | undefined {
  for (const other of before) {
    if (other.protocol === undefined) continue;
    const family = familyOf(protocol);
    if (familyOf(other.protocol) !== family || !hasHostnames(family)) {
      const message = `Port ${port} belongs to ${nameFor({ id }, other)} with protocol ${other.written}`;
      return { reason: "ProtocolConflict", message };
    }
    if (other.hostname.host === hostname.host) {
      const message = `Host ${hostname.host} on port ${port} belongs to ${nameFor({ id }, other)}`;
      return { reason: "HostnameConflict", message };
    }
  }
  return undefined;
}
