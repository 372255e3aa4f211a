/** The program of a worker thread: a whole data plane, controlled by the supervisor (docs/adr/0013-workers.md). */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { exportMetrics, type MetricExport } from "@svc-gateway/common/telemetry/metric-set.ts";
import { measureThread } from "@svc-gateway/common/telemetry/process-metrics.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { ok } from "@svc-gateway/common/values/result.ts";
import { startProxy } from "../proxy.ts";
import { openSocketLayer } from "../sockets/handles/handle-layer.ts";
import type { StagedState } from "../state/proxy-state.ts";
import { createAccessLog } from "../telemetry/access-log.ts";
import { createConnectionLog } from "../telemetry/connection-log.ts";
import { createProxyMetrics } from "../telemetry/metrics.ts";
import { Heartbeat } from "./hang-watch.ts";
import { LogRingWriter } from "./log-ring.ts";
import type { FromWorker, ToWorker, WorkerCalls, WorkerStart } from "./messages.ts";
import { createWorkerSink } from "./worker-sink.ts";

const port = parentPort as MessagePort;
const { settings, worker, workers, responseMemoryBytes, memory } = workerData as WorkerStart;
const heartbeat = new Heartbeat(memory.heartbeats, worker);
const send = (message: FromWorker): void => port.postMessage(message);

const ring = memory.logs[worker];
if (ring === undefined) throw new Error(`there is no log ring for worker ${worker}`);
const sink = createWorkerSink(new LogRingWriter(ring, (when) => send({ type: "log", when })));
const levels = createLogLevels(settings.log);
const logging = { levels, format: settings.logFormat, sink };
const log = createLogger("svc_proxy", logging).child("svc_proxy", { worker });
const metrics = createProxyMetrics({ logSink: sink });
const thread = measureThread(String(worker));
const { accessLogFormat = settings.logFormat } = settings;
const accessLog = createAccessLog({
  ...logging,
  enabled: settings.accessLog,
  pathMode: settings.accessLogPathMode,
  format: accessLogFormat,
  fields: settings.accessLogFields,
});
const connectionLog = createConnectionLog({
  ...logging,
  enabled: settings.accessLog && settings.accessLogConnections,
  // The formats of web servers do not cover connections; the settings refuse that combination.
  format: accessLogFormat === "console" || accessLogFormat === "json" ? accessLogFormat : settings.logFormat,
});
const spanRing = memory.spans[worker];
const spans = spanRing && new LogRingWriter(spanRing, (when) => send({ type: "spans", when }));
const proxy = startProxy({
  settings,
  sockets: await openSocketLayer(settings.socketLayer, log),
  metrics,
  accessLog,
  connectionLog,
  spanSink: spans && ((record) => spans.append(record)),
  log,
  snapshotLog: worker === 0 ? createLogger("svc_proxy", logging) : quiet(log),
  responseMemoryBytes,
  workerPlace: { worker, workers, memory },
  onBoundPorts: (ports) => send({ type: "ports", ports, udp: proxy.udpPorts() }),
});
const hurry = new AbortController();
let staged: StagedState | undefined;
/** The chain of update parts that wait to be read, each in its own turn of the event loop. */
let reading: Promise<void> = Promise.resolve();

type Handlers = {
  readonly [Call in keyof WorkerCalls]: (
    argument: WorkerCalls[Call]["argument"],
  ) => WorkerCalls[Call]["answer"] | Promise<WorkerCalls[Call]["answer"]>;
};

const handlers: Handlers = {
  async read(part): Promise<Result<unknown>> {
    // A message port delivers all waiting messages before anything else runs, so each part waits for its own turn.
    reading = reading.then(() => {
      heartbeat.whileBusy(() => proxy.read(part));
      return nextTurn();
    });
    await reading;
    return ok(undefined);
  },
  async stage({ version, full, removed, ...part }): Promise<Result<unknown>> {
    await handlers.read(part);
    const result = await heartbeat.whileBusy(() => proxy.stage({ version, full, removed, resources: [] }));
    staged = result.ok ? result.value : undefined;
    return result.ok ? ok(undefined) : result;
  },
  async commit(ports) {
    const ready = staged;
    if (ready === undefined) throw new Error("nothing is staged");
    proxy.useLocalPorts(ports);
    const summary = await heartbeat.whileBusy(() => ready.commit());
    staged = undefined;
    await proxy.settled();
    return { summary, ports: proxy.localPorts() };
  },
  discard() {
    staged = undefined;
    proxy.forget();
    return undefined;
  },
  metrics: exportAll,
  async shutdown(how) {
    await proxy.shutdown(hurry.signal, how);
    return exportAll();
  },
};

port.on("message", (message: ToWorker) => {
  if (message.type === "hurry") return hurry.abort();
  if (message.type === "log-level") return levels.change(message.directives);
  const { id, call, argument } = message;
  const handler = handlers[call] as (argument: unknown) => unknown;
  // A handler that throws is a bug: it ends the worker.
  void Promise.resolve(handler(argument)).then((answer) => send({ type: "answer", id, answer }));
});

process.on("uncaughtException", (error) => {
  log.error({ err: error }, "worker failed");
  send({ type: "counts", metrics: exportAll() });
  process.exit(1);
});

heartbeat.start();
send({ type: "ready" });

/** Exports the metrics of this worker and of its thread. */
function exportAll(): MetricExport {
  thread.refresh();
  return [...metrics.export(), ...exportMetrics(...thread.sets)];
}

/** Lowers info and warnings, which the first worker logs, to debug; every worker logs errors. */
function quiet(logger: Logger): Logger {
  return { ...logger, info: logger.debug, warn: logger.debug };
}
