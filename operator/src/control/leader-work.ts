import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { KindName } from "../api/kinds.ts";
import { leftOutEvents } from "../build/left-out-objects.ts";
import type { Build } from "../build/table-builder.ts";
import type { Leadership } from "../lifecycle/leadership.ts";
import type { Reconciler } from "../reconcilers/reconciler.ts";
import { runReconcilers, type ReconcileMetrics } from "../reconcilers/run-reconcilers.ts";
import type { ApiClient } from "../sources/kubernetes/api-client.ts";
import { createBuildEvents } from "../write/build-events.ts";
import type { EventSource, ObjectEvent } from "../write/event-object.ts";
import { createEventRecorder } from "../write/event-recorder.ts";
import type { StatusWriter } from "../write/status-writer.ts";

const hasNamespace = ({ regarding }: ObjectEvent): boolean => regarding.namespace !== undefined;

export type LeaderWorkOptions = {
  readonly client: ApiClient;
  readonly leadership: Pick<Leadership, "term" | "subscribe">;
  readonly reconcilers: readonly Reconciler[];
  readonly statuses: StatusWriter;
  /** Whether the observed version of an object is the one that this process has written. */
  readonly isWritten: (kind: KindName, name: string) => boolean;
  readonly events: EventSource;
  /** Whether Events about cluster-scoped objects, which are stored in the namespace `default`, are written. */
  readonly writesClusterEvents: boolean;
  readonly metrics: ReconcileMetrics;
  readonly log: Logger;
};

/** The work of the leader alone: statuses, Events and the objects of Gateways. */
export type LeaderWork = {
  onBuild(build: Build): void;
  onObserved(kind: KindName, name: string): void;
  onProxies(): void;
};

type Term = LeaderWork & { readonly signal: AbortSignal };

/**
 * Does the leader's work while this replica leads. Each term begins with the last build, reconciles everything again,
 * and ends with its signal, after which nothing is sent.
 */
export function createLeaderWork(options: LeaderWorkOptions): LeaderWork {
  const { leadership, log } = options;
  const eventsOf = createBuildEvents();
  let lastBuild: Build | undefined;
  let term: Term | undefined;

  const begin = (signal: AbortSignal): Term => {
    const running = runReconcilers({ ...options, signal });
    const recorder = createEventRecorder({ client: options.client, source: options.events, log, signal });
    return {
      signal,
      onBuild(build) {
        running.onBuild(build);
        const all = [...eventsOf(build), ...leftOutEvents(build.leftOut ?? [])];
        recorder.sync(options.writesClusterEvents ? all : all.filter(hasNamespace));
      },
      onObserved: running.onObserved,
      onProxies: running.onProxies,
    };
  };

  const present = (): Term | undefined => {
    const signal = leadership.term();
    if (signal === undefined) return (term = undefined);
    if (term?.signal === signal) return term;
    term = begin(signal);
    if (lastBuild !== undefined) term.onBuild(lastBuild);
    return term;
  };

  leadership.subscribe(() => void present());
  return {
    onBuild(build) {
      lastBuild = build;
      const before = term;
      const now = present();
      // A term that has just begun already has the build.
      if (now !== undefined && now === before) now.onBuild(build);
    },
    onObserved: (kind, name) => present()?.onObserved(kind, name),
    onProxies: () => present()?.onProxies(),
  };
}
