import { createListeners, type Listeners } from "@svc-gateway/common/collections/listeners.ts";
import { diffSnapshots, fullUpdate, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import { scopeKey } from "./principals.ts";
import { prepareUpdate, type PreparedUpdate } from "./prepared-update.ts";

/** The present snapshot of a scope and the updates that lead to it. */
export type ScopeSnapshot = {
  readonly snapshot: Snapshot;
  /** Returns the update from a base, or the full one without a base. Proxies with the same base share it. */
  updateFrom(base: Snapshot | undefined): PreparedUpdate;
};

/** The present snapshot of each scope. A proxy's stream reads its own scope and cannot name another. */
export type SnapshotCache = {
  /** Whether snapshots have been published; until then nothing must be served, not even an empty snapshot. */
  isListed(): boolean;
  /**
   * Replaces the snapshots of all scopes; scopes that are not listed are removed. Listeners of a scope are notified
   * only if its version has changed.
   */
  publish(snapshots: Iterable<readonly [ProxyScope, Snapshot]>): void;
  get(scope: ProxyScope): ScopeSnapshot | undefined;
  /** Calls back after each change of the scope's version; the returned function ends that. */
  subscribe(scope: ProxyScope, listener: () => void): () => void;
};

/**
 * The largest number of updates shared per snapshot. Bases differ only for proxies that lag; additional ones are
 * prepared for each of these proxies.
 */
const maxSharedUpdates = 16;

export function createSnapshotCache(): SnapshotCache {
  let isListed = false;
  let scopes: ReadonlyMap<string, ScopeSnapshot> = new Map();
  const listeners = new Map<string, Listeners>();

  const subscribe = (key: string, listener: () => void): (() => void) => {
    const ofScope = listeners.get(key) ?? createListeners();
    listeners.set(key, ofScope);
    const leave = ofScope.subscribe(listener);
    return () => {
      leave();
      if (ofScope.isEmpty && listeners.get(key) === ofScope) listeners.delete(key);
    };
  };

  return {
    isListed: () => isListed,
    publish(snapshots) {
      const previous = scopes;
      const next = new Map<string, ScopeSnapshot>();
      for (const [scope, snapshot] of snapshots) {
        const key = scopeKey(scope);
        const known = previous.get(key);
        next.set(key, known?.snapshot.version === snapshot.version ? known : scopeSnapshot(snapshot));
      }
      scopes = next;
      isListed = true;
      for (const key of new Set([...previous.keys(), ...next.keys()])) {
        if (previous.get(key) === next.get(key)) continue;
        listeners.get(key)?.notify();
      }
    },
    get: (scope) => scopes.get(scopeKey(scope)),
    subscribe: (scope, listener) => subscribe(scopeKey(scope), listener),
  };
}

function scopeSnapshot(snapshot: Snapshot): ScopeSnapshot {
  const shared = new Map<string, PreparedUpdate>();
  return {
    snapshot,
    updateFrom(base) {
      const known = shared.get(base?.version ?? "");
      if (known !== undefined) return known;
      const update = prepareUpdate(base === undefined ? fullUpdate(snapshot) : diffSnapshots(base, snapshot));
      if (shared.size < maxSharedUpdates) shared.set(base?.version ?? "", update);
      return update;
    },
  };
}
