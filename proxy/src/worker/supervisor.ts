import { setImmediate as nextTurn } from "node:timers/promises";
import { KernelDrops } from "@svc-gateway/common/linux/kernel-drops.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { LogOutput } from "@svc-gateway/common/telemetry/log-sink.ts";
import type { LogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { proxyMetrics, supervisorMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { Exposition } from "@svc-gateway/common/telemetry/exposition.ts";
import {
  createMetricSet,
  exportMetrics,
  type AnyMetricSet,
} from "@svc-gateway/common/telemetry/metric-set.ts";
import { backoffMs, type Backoff } from "@svc-gateway/common/time/backoff.ts";
import { fail, ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { createSharedMemory, releaseWorker } from "../shared/shared-memory.ts";
import type { ShutdownMode } from "../proxy.ts";
import { IncomingUpdate } from "../state/incoming-update.ts";
import type { ApplySummary } from "../state/proxy-state.ts";
import { createMergedMetrics } from "../telemetry/merged-metrics.ts";
import { startSpanExport } from "../tracing/export/span-export.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import { awake } from "../timing/awake-clock.ts";
import { setEngineFlags } from "./engine-flags.ts";
import { HangWatch, type HangLimits } from "./hang-watch.ts";
import { HeldSnapshot } from "./held-snapshot.ts";
import { LogDrain } from "./log-drain.ts";
import { type Machine, readMachine } from "./machine.ts";
import type { WorkerSettings } from "./messages.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { packIncoming, packUpdate, type PackedMessages } from "./packed-update.ts";
import { createSlot, portsOfAll, type Slot } from "./slot.ts";
import { planWorkers } from "./worker-plan.ts";
import {
  abandoned,
  handOver,
  startThread,
  processorWaitOf,
  type ThreadEnd,
  workerProgram,
  type WorkerThread,
} from "./worker-thread.ts";

export type SupervisorOptions = {
  readonly settings: WorkerSettings;
  readonly log: Logger;
  /** Receives the log lines of all workers. */
  readonly sink: LogOutput;
  /** The metrics of other parts of the process, which are exposed with those of the workers. */
  readonly otherMetrics?: readonly AnyMetricSet[];
  /** Called with the listener ports that are bound in every worker, sorted, on every change. */
  readonly onBoundPorts?: (ports: readonly number[]) => void;
  /** The resources of the process; by default read from the system. */
  readonly machine?: Machine;
  /** The program of the threads; by default that of this release. */
  readonly program?: URL;
  /** How long workers may be silent; `stuck` is how long a worker may take to terminate. */
  readonly hangLimits?: HangLimits & { readonly stuck: number };
  /** Called when a worker cannot be terminated, so that its connections are lost. By default ends the process. */
  readonly onStuck?: () => void;
};

/** The data plane of a process: worker threads that serve requests, controlled from one place. */
export type Supervisor = {
  readonly workers: number;
  /**
   * Applies an update in all workers or in none. When this resolves, the sockets of new listeners are bound or have
   * failed to bind.
   */
  apply(update: SnapshotUpdate): Promise<Result<ApplySummary>>;
  /** Applies an update that is still arriving. The workers read the first update of the process while it arrives. */
  applyIncoming(update: IncomingUpdate): Promise<Result<ApplySummary>>;
  /** The current metrics of the pod, including those of other parts of the process. */
  metrics(): Promise<Exposition>;
  /** Changes what present and later workers log. */
  setLogLevel(directives: LogDirectives): void;
  /** The local port of a bound listener port. */
  localPort(port: number): number | undefined;
  /** Lets requests finish (docs/operations.md, "Shutdown"); aborts the remaining ones when the signal does. */
  shutdown(hurry: AbortSignal, how?: ShutdownMode): Promise<void>;
};

/**
 * The limit for compiling a snapshot and for binding its sockets, far above the time that either takes. A worker that
 * exceeds it, not counting its wait for a processor, hangs.
 */
const callTimeoutMs = 60_000;
/** How many messages of the first update may wait for a worker: one MiB. No requests are served before that update. */
const messagesAhead = 8;
const metricsTimeoutMs = 5_000;
/** Clients wait while a worker hangs. Garbage collections and bursts take much less time than these limits. */
const defaultHangLimits = { serving: 10_000, busy: callTimeoutMs, stuck: 10_000 };
const checkIntervalMs = 500;
const shutdownMarginMs = 10_000;
const restarts: Backoff = { firstMs: 100, maxMs: 30_000 };
/** After this runtime, the end of a thread is not attributed to its start. */
const stableMs = 60_000;

/** Starts the workers. Returns a problem if one does not start. See docs/adr/0013-workers.md. */
export async function startSupervisor(options: SupervisorOptions): Promise<Result<Supervisor, Problem>> {
  const { log, sink, otherMetrics = [], onBoundPorts = () => {} } = options;
  const { machine = readMachine(), program = workerProgram, hangLimits = defaultHangLimits } = options;
  const { onStuck = () => process.exit(1) } = options;
  const { settings, perWorker, heapMegabytes } = planWorkers(options.settings, machine, log);
  const { workers } = perWorker;
  let logDirectives = settings.log;
  const memory = createSharedMemory(workers, settings.tracingEndpoint !== undefined);
  const logDrain = new LogDrain(memory.logs, sink);
  const merged = createMergedMetrics();
  const { logLinesDropped, udpDatagramsDropped, traceSpansDropped } = proxyMetrics;
  const counts = createMetricSet({
    ...supervisorMetrics,
    ...{ logLinesDropped, udpDatagramsDropped, traceSpansDropped },
  });
  const exporting = await startSpanExport({ settings, rings: memory.spans, metrics: counts, log });
  if (!exporting.ok) {
    logDrain.close();
    return exporting;
  }
  const spanExport = exporting.value;
  const kernelDrops = new KernelDrops();
  const unwatchClock = awake.watch();
  const hangs = new HangWatch(memory.heartbeats, hangLimits, awake, processorWaitOf);
  const held = new HeldSnapshot();
  const localPorts = new Map<number, number>();
  const slots = Array.from({ length: workers }, (_, worker) => createSlot(worker));
  let stopping = false;
  let reportedPorts = "";
  /** Serialises changes to the snapshots of the workers. */
  let last: Promise<unknown> = Promise.resolve();
  let onJoined: PromiseWithResolvers<void> = Promise.withResolvers();

  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };

  const serving = (): readonly Slot[] => slots.filter((slot) => slot.serving);

  const reportPorts = (): void => {
    const ports = portsOfAll(serving());
    if (ports.join() === reportedPorts) return;
    reportedPorts = ports.join();
    onBoundPorts(ports);
  };

  const start = (slot: Slot): WorkerThread => {
    const { worker } = slot;
    slot.startedMs = performance.now();
    slot.hung = undefined;
    hangs.started(worker);
    const workerStart = { ...perWorker, settings: { ...settings, log: logDirectives }, worker, memory };
    const thread = startThread(program, workerStart, heapMegabytes, {
      onLog: (when) => logDrain.wake(worker, when),
      onSpans: (when) => spanExport?.wake(worker, when),
      onPorts(ports, udp) {
        slot.ports = ports;
        slot.udp = udp;
        reportPorts();
      },
      onCounts: (metrics) => merged.report(worker, metrics),
      onEnd: (end) => ended(slot, end),
    });
    slot.thread = thread;
    return thread;
  };

  const ended = (slot: Slot, end: ThreadEnd): void => {
    const { worker } = slot;
    const { error } = end;
    const reason = slot.hung !== undefined ? "hang" : end.reason;
    hangs.forget(worker);
    logDrain.take(worker);
    slot.thread = undefined;
    slot.serving = false;
    slot.ports = [];
    slot.udp = [];
    merged.retire(worker);
    releaseWorker(memory, worker);
    counts.workers.with({}).set(serving().length);
    if (stopping) return;
    reportPorts();
    counts.workerRestarts.with({ reason: reason === "finished" ? "error" : reason }).inc();
    const ranMs = performance.now() - slot.startedMs;
    slot.failures = ranMs >= stableMs ? 1 : slot.failures + 1;
    const delayMs = backoffMs(restarts, slot.failures);
    log.error(
      { event: "worker_ended", worker, reason, restart_in_ms: delayMs, ...(error && { err: error }) },
      "worker ended",
    );
    slot.timer = setTimeout(() => void join(slot, start(slot)), delayMs);
  };

  /**
   * Terminates a worker that hangs or does not answer, so that another one replaces it. A worker that cannot be
   * terminated keeps its sockets and clients until the process exits, so `onStuck` ends the process.
   */
  const terminate = ({ worker, thread }: Slot): void => {
    if (thread === undefined) return;
    hangs.forget(worker);
    const stuck = new AwakeTimer(() => {
      log.error(
        { event: "worker_stuck", worker },
        "worker hangs and cannot be terminated: the process exits",
      );
      onStuck();
    }, hangLimits.stuck);
    void thread.terminate().then(() => stuck.clear());
  };

  const replaceHanging = (): void => {
    for (const { worker, silentMs, isBusy } of hangs.check()) {
      const slot = slots[worker];
      if (slot?.thread === undefined) continue;
      slot.hung = isBusy ? "busy" : "serving";
      log.error(
        { event: "worker_hung", worker, silent_ms: Math.round(silentMs) },
        "worker hangs: it is replaced, and its connections are lost",
      );
      terminate(slot);
    }
  };
  const hangTimer = setInterval(replaceHanging, checkIntervalMs).unref();

  /** Applies the held snapshot in a new thread, which then serves. Returns whether it does. */
  const join = async (slot: Slot, thread: WorkerThread): Promise<boolean> => {
    if (!(await thread.ready)) return false;
    return inTurn(async () => {
      const update = held.asUpdate();
      if (update !== undefined) {
        const staged = await handOver(thread, packUpdate(update), callTimeoutMs);
        if (staged?.ok !== true || (await commit(slot)) === undefined) {
          terminate(slot);
          return false;
        }
      }
      if (slot.thread !== thread || stopping) return false;
      slot.serving = true;
      counts.workers.with({}).set(serving().length);
      reportPorts();
      onJoined.resolve();
      onJoined = Promise.withResolvers();
      return true;
    });
  };

  const commit = async (slot: Slot): Promise<ApplySummary | undefined> => {
    const { thread } = slot;
    const committed = await thread?.call("commit", portMappings(localPorts), callTimeoutMs);
    if (committed === undefined) {
      terminate(slot);
      return undefined;
    }
    for (const { listenerPort, localPort } of committed.ports) localPorts.set(listenerPort, localPort);
    return committed.summary;
  };

  /** Stages an update; `hung` if the worker already hung and is being replaced: its successor gets the update. */
  const stage = async (slot: Slot, update: PackedMessages): Promise<Result<unknown> | "hung"> => {
    const { thread } = slot;
    const ahead = held.isEmpty ? messagesAhead : 1;
    const staged = thread && (await handOver(thread, update, callTimeoutMs, ahead));
    if (staged !== undefined) return staged;
    if (slot.hung === "serving") return "hung";
    terminate(slot);
    return problem(`worker ${slot.worker} ended, or did not answer, while it prepared the snapshot`);
  };

  const discard = (present: readonly Slot[]): Promise<unknown> =>
    Promise.all(present.map(async ({ thread }) => thread?.call("discard", undefined, callTimeoutMs)));

  const refuse = async (
    present: readonly Slot[],
    { version }: SnapshotUpdate,
    error: Problem,
  ): Promise<Result<ApplySummary>> => {
    await discard(present);
    log.error({ version, reason: error.message }, "snapshot refused");
    return fail(error);
  };

  /** Applies an update; returns undefined when no worker could apply it. */
  const applyOnce = async (incoming: IncomingUpdate): Promise<Result<ApplySummary> | undefined> => {
    const present = serving();
    if (present.length === 0) return undefined;
    const { arrived } = incoming;
    const packed = arrived === undefined ? packIncoming(incoming) : packUpdate(arrived);
    const staging = Promise.all(present.map((slot) => stage(slot, packed)));
    const update = await incoming.whole;
    if (update === undefined) {
      await staging;
      await discard(present);
      return abandoned();
    }
    // The check runs while the workers compile: they get the end of the update first.
    await nextTurn();
    const checked = held.check(update);
    const results = await staging;
    if (!checked.ok) return refuse(present, update, checked.error);
    for (const result of results)
      if (result !== "hung" && !result.ok) return refuse(present, update, result.error);
    const waiting = present.filter((_, index) => results[index] !== "hung");
    if (waiting.length === 0) return undefined;
    let summary: ApplySummary | undefined;
    // The first worker commits alone, because it can choose local ports for all.
    while (summary === undefined) {
      const slot = waiting.shift();
      if (slot === undefined) return problem("every worker ended while it applied the snapshot");
      summary = await commit(slot);
    }
    held.apply(checked.value);
    merged.forgetRoutes(summary.removedRoutes);
    await Promise.all(waiting.map(commit));
    return ok(summary);
  };

  /** Counts drops over all workers: each has its own sockets for the same UDP listeners, all in the kernel's table. */
  const countKernelDrops = async (): Promise<void> => {
    const listeners = new Map(
      slots.flatMap(({ udp }) => udp.map((one) => [one.localPort, one.listenerPort])),
    );
    for (const [port, drops] of await kernelDrops.since(new Set(listeners.keys()))) {
      const labels = { listener: String(listeners.get(port)), reason: "receive-buffer" };
      counts.udpDatagramsDropped.with(labels).inc(drops);
    }
  };

  const supervisor: Supervisor = {
    workers,
    apply: (update) => supervisor.applyIncoming(IncomingUpdate.of(update)),
    async applyIncoming(incoming) {
      // An update holds its turn until it has arrived, and the replacement of a worker must not wait for that.
      if (!held.isEmpty) await incoming.whole;
      for (;;) {
        const { promise: joined } = onJoined;
        const applied = await inTurn(() => applyOnce(incoming));
        if (applied !== undefined) return applied;
        if (stopping) return problem("the proxy is shutting down");
        await joined;
      }
    },
    metrics: oneAtATime(async () => {
      await Promise.all(
        slots.map(async ({ worker, thread }) => {
          const values = await thread?.call("metrics", undefined, metricsTimeoutMs);
          if (values !== undefined) merged.report(worker, values);
        }),
      );
      await countKernelDrops();
      counts.logLinesDropped.with({}).value = sink.droppedLines();
      return merged.expose(exportMetrics(counts, ...otherMetrics));
    }),
    setLogLevel(directives) {
      logDirectives = directives;
      for (const { thread } of slots) thread?.setLogLevel(directives);
    },
    localPort: (port) => (slots.some(({ ports }) => ports.includes(port)) ? localPorts.get(port) : undefined),
    async shutdown(hurry, how = "announced") {
      stopping = true;
      onJoined.resolve();
      for (const slot of slots) clearTimeout(slot.timer);
      const { proxyShutdownGracePeriodMs: graceMs, proxyShutdownTimeoutMs: timeoutMs } = settings;
      const limitMs = graceMs + timeoutMs + shutdownMarginMs;
      await Promise.all(
        slots.map(async ({ worker, thread }) => {
          if (thread === undefined) return;
          const answer = thread.call("shutdown", how, limitMs);
          const onHurry = (): void => thread.hurry();
          if (hurry.aborted) onHurry();
          else hurry.addEventListener("abort", onHurry);
          const values = await answer;
          hurry.removeEventListener("abort", onHurry);
          if (values !== undefined) merged.report(worker, values);
          await thread.terminate();
        }),
      );
      await spanExport?.close();
      clearInterval(hangTimer);
      unwatchClock();
      logDrain.close();
    },
  };

  const started = await Promise.all(slots.map((slot) => join(slot, start(slot))));
  if (started.every(Boolean)) {
    setEngineFlags();
    return ok(supervisor);
  }
  await supervisor.shutdown(AbortSignal.abort());
  return problem("a worker thread did not start, see the log");
}

const portMappings = (ports: ReadonlyMap<number, number>): readonly PortMapping[] =>
  Array.from(ports, ([listenerPort, localPort]) => ({ listenerPort, localPort }));
