import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { ListenerSet } from "@svc-gateway/common/ir/listener.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { AuthStore } from "../auth/auth-store.ts";
import { createEncoderSlots } from "../filters/encoder-slots.ts";
import type { FilterEnvironment } from "../filters/environment.ts";
import type { RouteProblem } from "../routing/host-table.ts";
import type { OpenPortTable } from "../routing/changing-port-table.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import type { RateStore } from "../filters/rate-store.ts";
import type { ObserverOf } from "../telemetry/observer.ts";
import type { TicketKeyRing } from "../tls/ticket-keys.ts";
import type { OwnPortGuard } from "../upstream/own-port-guard.ts";
import type { UpstreamRegistry } from "../upstream/upstream-registry.ts";
import { checkCertificates, sortChanges } from "./changes.ts";
import { stageL4, type L4Tables } from "./l4-tables.ts";
import { listListeners, type OwnedListener } from "./listener-list.ts";
import { createRoutingTables, type TableCounts } from "./routing-tables.ts";
import { UpdateReader } from "./staged-update.ts";
import { partOf, type UpdatePart } from "./update-part.ts";
import { atOnce, forEachInSteps, inSlices, type Steps } from "../timing/steps.ts";
import { createUpstreamLinks } from "./upstream-links.ts";

/** Everything that listeners serve from a snapshot: a new value for each update, with tables that change in place. */
export type ServingState = {
  readonly version: string;
  /** The listeners: each (port, protocol) once, sorted. */
  readonly listeners: readonly OwnedListener[];
  /** The tables by listener port. The table of a port keeps its identity while it has routes. */
  readonly tables: ReadonlyMap<number, OpenPortTable>;
  /** The routes below HTTP; the table of a port keeps its identity while its routes do not change. */
  readonly l4: L4Tables;
  /** The certificates by listener port; values keep their identity while they do not change. */
  readonly tls: ReadonlyMap<number, TlsPort>;
  readonly clientCerts: ReadonlyMap<number, ClientCertPort>;
  /** The keys of session tickets; undefined until a snapshot has some. They stay in use if later ones have none. */
  readonly ticketKeys: TicketKeyRing | undefined;
};

export type ApplySummary = {
  readonly version: string;
  /** The number of resources that were added, changed or removed. */
  readonly changes: number;
  /** The routes that are omitted because they cannot be compiled. */
  readonly problems: readonly RouteProblem[];
  /** The ids of routes that no table contains any longer. */
  readonly removedRoutes: ReadonlySet<string>;
  readonly durationMs: number;
};

/** An update that was checked and compiled, and waits to be applied. */
export type StagedState = {
  /**
   * Applies the update; cannot fail. Called before anything else is staged, or never. Requests are served by the new
   * state immediately. Work that no request depends on follows in slices; nothing else may be read or staged until the
   * promise resolves.
   */
  commit(): Promise<ApplySummary>;
};

export type ProxyState = {
  /** The current state. */
  readonly serving: ServingState;
  readonly counts: TableCounts;
  /**
   * Reads a part of the update that is staged next; the argument of `stage` then need not contain its resources. The
   * parts are discarded when an update has been staged, or by `forget`.
   */
  read(part: UpdatePart): void;
  forget(): void;
  /**
   * Checks and compiles an update without changing anything, so that several workers can apply it together. Works in
   * slices between which requests are served. The version is not checked here, but once for all workers
   * (`HeldSnapshot`). Nothing else may be read, staged or applied until it resolves.
   */
  stage(update: SnapshotUpdate): Promise<Result<StagedState>>;
  /**
   * Applies an update completely or not at all. A refused update changes nothing; the problem is sent to the controller
   * unchanged (docs/adr/0003-snapshots-are-keyed-resources.md).
   */
  apply(update: SnapshotUpdate): Result<ApplySummary>;
};

export type ProxyStateOptions = {
  readonly upstreams: UpstreamRegistry;
  /** Receives the credentials and keys of the snapshot; used by the filters of routes. */
  readonly auth: FilterEnvironment["auth"] & Pick<AuthStore, "update">;
  /** Receives the ports of the gateway itself, which no endpoint may use. */
  readonly ownPorts?: Pick<OwnPortGuard, "update">;
  readonly metrics: ProxyMetrics;
  readonly rates: RateStore;
  readonly concurrency: FilterEnvironment["concurrency"];
  readonly log: Logger;
  /** Called once per applied update with the new state. Must not fail. */
  readonly publish: (serving: ServingState) => void;
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
  /** The limit of an attempt if a rule does not set one, in milliseconds; none when absent. */
  readonly defaultBackendTimeoutMs?: number | undefined;
  readonly observerOf?: ObserverOf;
};

/** The maximum number of responses that a worker compresses at a time: about 170 MB (docs/features/compression.md). */
const maxEncoders = 100;

/** Creates the state of a worker, which is empty, so that every request is answered 404, until the first snapshot. */
export function createProxyState(options: ProxyStateOptions): ProxyState {
  const {
    metrics,
    rates,
    concurrency,
    log,
    publish,
    random = Math.random,
    defaultBackendTimeoutMs = 0,
  } = options;
  const links = createUpstreamLinks(options.upstreams);
  const routing = createRoutingTables({
    metrics,
    upstreamOf: links.to,
    random,
    defaultBackendTimeoutMs,
    observerOf: options.observerOf,
    filters: {
      auth: options.auth,
      rates,
      concurrency,
      upstreamOf: links.to,
      encoders: createEncoderSlots(maxEncoders, metrics.compressionSkipped.with({})),
    },
  });
  const hashes = new Map<ResourceKey, string>();
  let reader = new UpdateReader(hashes);
  let listenerSets: ReadonlyMap<string, ListenerSet> = new Map();
  let serving: ServingState = {
    version: "",
    listeners: [],
    tables: routing.tables,
    l4: new Map(),
    tls: new Map(),
    clientCerts: new Map(),
    ticketKeys: undefined,
  };

  const isServed = (routeId: string): boolean =>
    routing.serves(routeId) || [...serving.l4.values()].some(({ routeIds }) => routeIds.has(routeId));

  /** Checks and compiles an update; `commit` of the result applies it and cannot fail. */
  function* prepare(update: SnapshotUpdate): Steps<Result<Prepared>> {
    if (update.resources.length > 0) {
      reader.take(partOf(update.resources));
      yield;
    }
    const staged = yield* reader.finish(update);
    if (!staged.ok) return staged;
    yield;
    const changes = yield* sortChanges(staged.value);
    const certificates = checkCertificates(changes.tls);
    if (certificates !== undefined) return problem(certificates);
    const presence = new Map([...changes.endpoints].map(([name, set]) => [name, set !== undefined]));
    const tables = yield* routing.stage(changes.hosts, presence);
    if (!tables.ok) return tables;
    const l4 = stageL4(
      serving.l4,
      changes.l4,
      {
        removed: [...presence].filter(([, isPresent]) => !isPresent).map(([name]) => name),
        has: (name) => presence.get(name) ?? routing.endpointSets.has(name),
      },
      { upstreamOf: (endpoints, identity) => links.to(endpoints, "http1", identity), random },
    );
    if (!l4.ok) return l4;
    return ok({
      version: update.version,
      changes: staged.value.length,
      problems: tables.value.problems,
      commit() {
        tables.value.commit();
        if (changes.sessionKey !== undefined) options.upstreams.setSessionKey(changes.sessionKey.key);
        if (changes.ownPorts !== undefined) options.ownPorts?.update(changes.ownPorts);
        options.upstreams.update({
          endpoints: changes.endpoints,
          tls: { policies: changes.backendTls, certificates: changes.backendCertificates },
        });
        options.auth.update(changes);
        listenerSets = changedMap(listenerSets, changes.listeners);
        serving = {
          version: update.version,
          listeners: changes.listeners.size === 0 ? serving.listeners : listListeners(listenerSets),
          tables: routing.tables,
          l4: l4.value.tables,
          tls: changedMap(serving.tls, changes.tls),
          clientCerts: changedMap(serving.clientCerts, changes.clientCerts),
          ticketKeys: changes.ticketKeys ?? serving.ticketKeys,
        };
        publish(serving);
      },
      *settle() {
        yield* options.upstreams.settle();
        yield* forEachInSteps(staged.value, ({ key, hash }) => {
          if (hash === undefined) hashes.delete(key);
          else hashes.set(key, hash);
        });
        const removed = new Set([...(yield* tables.value.settle()), ...l4.value.removedRoutes]);
        if (removed.size > 0) {
          options.upstreams.retainRoutes(isServed);
          metrics.retainRoutes(isServed);
        }
        return removed;
      },
    });
  }

  const forget = (): void => {
    reader = new UpdateReader(hashes);
  };

  /** Refuses the update if `prepare` throws (see `describeBug`). */
  function* prepareSafely(update: SnapshotUpdate): Steps<Result<Prepared>> {
    try {
      return yield* prepare(update);
    } catch (error) {
      return problem(describeBug(error));
    }
  }

  function* stage(update: SnapshotUpdate): Steps<Result<{ commit(): Steps<ApplySummary> }>> {
    const startedMs = performance.now();
    const prepared = yield* prepareSafely(update);
    forget();
    const stagedMs = performance.now() - startedMs;
    if (!prepared.ok) {
      recordRebuild(metrics, false, stagedMs, routing.counts);
      return prepared;
    }
    const { version, changes, problems, commit, settle } = prepared.value;
    return ok({
      *commit() {
        const committedMs = performance.now();
        commit();
        yield;
        const removedRoutes = yield* settle();
        const durationMs = stagedMs + performance.now() - committedMs;
        recordRebuild(metrics, true, durationMs, routing.counts);
        for (const { routeId, message } of problems) {
          log.warn({ route_id: routeId, reason: message }, "route left out");
        }
        log.debug({ version, changes, duration_ms: Math.round(durationMs) }, "snapshot applied");
        return { version, changes, problems, removedRoutes, durationMs };
      },
    });
  }

  return {
    get serving() {
      return serving;
    },
    get counts() {
      return routing.counts;
    },
    read: (part) => reader.take(part),
    forget,
    async stage(update) {
      const staged = await inSlices(stage(update));
      return staged.ok ? ok({ commit: () => inSlices(staged.value.commit()) }) : staged;
    },
    apply(update) {
      const staged = atOnce(stage(update));
      if (staged.ok) return ok(atOnce(staged.value.commit()));
      log.error({ version: update.version, reason: staged.error.message }, "snapshot refused");
      return staged;
    },
  };
}

type Prepared = Pick<ApplySummary, "version" | "changes" | "problems"> & {
  /** Makes the new state serve requests. */
  commit(): void;
  /** Does the work that no request depends on; returns the ids of routes that are no longer served. */
  settle(): Steps<ReadonlySet<string>>;
};

/**
 * Describes an exception. A bug that a snapshot triggers must not crash every proxy that receives it: the snapshot is
 * refused, and the last valid one continues to serve.
 */
const describeBug = (error: unknown): string => `internal error: ${textOf(error)}`;

function changedMap<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  changes: ReadonlyMap<Key, Value | undefined>,
): ReadonlyMap<Key, Value> {
  if (changes.size === 0) return map;
  const next = new Map(map);
  for (const [key, value] of changes) {
    if (value === undefined) next.delete(key);
    else next.set(key, value);
  }
  return next;
}

function recordRebuild(
  metrics: ProxyMetrics,
  applied: boolean,
  durationMs: number,
  counts: TableCounts,
): void {
  metrics.routingTableRebuilds.with({ result: applied ? "ok" : "error" }).inc();
  metrics.routingTableRebuildDuration.with({}).observe(durationMs / 1000);
  metrics.routingTableHosts.with({}).set(counts.hosts);
  metrics.routingTableRoutes.with({ kind: "ingress" }).set(counts.routes.ingress);
  metrics.routingTableRoutes.with({ kind: "gateway" }).set(counts.routes.gateway);
}
