import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import { formatIdentity, type WorkloadIdentity } from "@svc-gateway/proto/identity.ts";
import { scopeKey } from "./principals.ts";
import type { SnapshotCache } from "./snapshot-cache.ts";

/** A check as reported by a proxy. */
export type ReportedCheck = {
  readonly subsystem: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string;
};

/** The present state of a proxy that is connected to this replica. */
export type FleetNode = {
  /** The name of the pod. */
  readonly nodeId: string;
  readonly identity: WorkloadIdentity;
  readonly scope: ProxyScope;
  /** Release of the proxy; undefined until it has reported. */
  readonly release: string | undefined;
  /** The health; undefined until the proxy has reported it, and while a check is pending. */
  readonly health: "ready" | "degraded" | undefined;
  readonly degradedChecks: readonly string[];
  /** Listener ports that are bound, ascending. */
  readonly boundPorts: readonly number[];
  readonly lastAckedVersion: string | undefined;
  /** Whether the proxy has acknowledged the present snapshot of its scope. */
  readonly isInSync: boolean;
  /** How long the proxy has not been in sync, in milliseconds; 0 while it is in sync. */
  readonly behindMs: number;
  /** Fields of resources that this release sends and that the proxy drops (docs/upgrading.md, "Version skew"). */
  readonly unknownFields: readonly string[];
};

/** The resources and ports that every proxy of a scope must have. */
export type ProgrammedQuestion = {
  readonly scope: ProxyScope;
  /** Resources, with their hashes, that the last acknowledged snapshot must contain. */
  readonly resources: Iterable<readonly [ResourceKey, string]>;
  /** Listener ports that must be bound. */
  readonly ports: Iterable<number>;
};

/** The proxies that are connected to this replica. */
export type Fleet = {
  /** Returns a proxy by its name, and by the namespace of its identity if pods of several namespaces have that name. */
  node(nodeId: string, namespace?: string): FleetNode | undefined;
  nodes(): readonly FleetNode[];
  /** Whether at least one proxy of the scope is connected, and all connected ones have these resources and ports. */
  isProgrammed(question: ProgrammedQuestion): boolean;
  /** Calls back with the scope of a proxy after it connected, disconnected or reported a change. */
  subscribe(listener: (scope: ProxyScope) => void): () => void;
};

/** The stream of one proxy, from the perspective of the fleet. */
export type Membership = {
  setAcknowledged(snapshot: Snapshot): void;
  setBoundPorts(ports: readonly number[]): void;
  setHealth(release: string, checks: readonly ReportedCheck[]): void;
  leave(): void;
};

export type JoinRequest = {
  readonly nodeId: string;
  readonly identity: WorkloadIdentity;
  readonly scope: ProxyScope;
  readonly unknownFields: readonly string[];
  /** Called when a newer stream of the same proxy has replaced this one. */
  readonly onReplaced: () => void;
};

/** The interface of the fleet for streams. */
export type FleetRegistry = Fleet & {
  /** Replaces the stream of a proxy with the same identity and name. */
  join(request: JoinRequest): Membership;
};

type Entry = JoinRequest & {
  acknowledged?: Snapshot;
  boundPorts: readonly number[];
  release?: string;
  checks: readonly ReportedCheck[];
  /** The time from which a snapshot has not been acknowledged; undefined while the proxy is in sync. */
  behindSinceMs: number | undefined;
};

export function createFleet(
  cache: SnapshotCache,
  { nowMs }: Pick<Clock, "nowMs"> = monotonicClock,
): FleetRegistry {
  const entries = new Map<string, Entry>();
  const listeners = createListeners<[scope: ProxyScope]>();
  const changed = (scope: ProxyScope): void => {
    listeners.notify(scope);
  };

  const isInSync = ({ acknowledged, scope }: Entry): boolean =>
    acknowledged !== undefined && acknowledged.version === cache.get(scope)?.snapshot.version;

  /** Called after an acknowledgement and after a publication. */
  const noteSync = (entry: Entry): void => {
    entry.behindSinceMs = isInSync(entry) ? undefined : (entry.behindSinceMs ?? nowMs());
  };

  const view = (entry: Entry): FleetNode => ({
    nodeId: entry.nodeId,
    identity: entry.identity,
    scope: entry.scope,
    release: entry.release,
    health: healthOf(entry.checks),
    degradedChecks: entry.checks.filter(({ state }) => state === "Degraded").map(({ name }) => name),
    boundPorts: entry.boundPorts,
    lastAckedVersion: entry.acknowledged?.version,
    isInSync: isInSync(entry),
    behindMs: entry.behindSinceMs === undefined ? 0 : Math.max(0, nowMs() - entry.behindSinceMs),
    unknownFields: entry.unknownFields,
  });

  return {
    node(nodeId, namespace) {
      for (const entry of entries.values()) {
        const isIt = namespace === undefined || entry.identity.namespace === namespace;
        if (isIt && entry.nodeId === nodeId) return view(entry);
      }
      return undefined;
    },
    nodes: () => Array.from(entries.values(), view),
    isProgrammed({ scope, resources, ports }) {
      const key = scopeKey(scope);
      const members = [...entries.values()].filter((entry) => scopeKey(entry.scope) === key);
      const wanted = { resources: [...resources], ports: [...ports] };
      return members.length > 0 && members.every((entry) => isInPlace(entry, wanted));
    },
    subscribe: listeners.subscribe,
    join(request) {
      // A proxy cannot replace a proxy of another identity by using its name.
      const key = `${formatIdentity(request.identity)} ${request.nodeId}`;
      const previous = entries.get(key);
      const entry: Entry = { ...request, boundPorts: [], checks: [], behindSinceMs: undefined };
      noteSync(entry);
      entries.set(key, entry);
      previous?.onReplaced();
      changed(request.scope);
      const update = (change: () => void): void => {
        if (entries.get(key) !== entry) return;
        change();
        changed(request.scope);
      };
      const unsubscribe = cache.subscribe(request.scope, () => noteSync(entry));
      return {
        setAcknowledged: (snapshot) =>
          update(() => {
            entry.acknowledged = snapshot;
            noteSync(entry);
          }),
        setBoundPorts: (ports) => update(() => (entry.boundPorts = ports)),
        setHealth: (release, checks) =>
          update(() => {
            entry.release = release;
            entry.checks = checks;
          }),
        leave() {
          unsubscribe();
          update(() => entries.delete(key));
        },
      };
    },
  };
}

function isInPlace(
  { acknowledged, boundPorts }: Entry,
  { resources, ports }: { resources: readonly (readonly [ResourceKey, string])[]; ports: readonly number[] },
): boolean {
  return (
    acknowledged !== undefined &&
    resources.every(([key, hash]) => findEntry(acknowledged.resources, key)?.hash === hash) &&
    ports.every((port) => boundPorts.includes(port))
  );
}

function healthOf(checks: readonly ReportedCheck[]): "ready" | "degraded" | undefined {
  if (checks.length === 0 || checks.some(({ state }) => state === "Pending")) return undefined;
  return checks.some(({ state }) => state === "Degraded") ? "degraded" : "ready";
}
