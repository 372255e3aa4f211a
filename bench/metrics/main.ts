/**
 * Measures the cost of reading `/metrics` of a proxy with traffic on all routes, and the effect on concurrent
 * requests. See docs/scale.md, "Metrics".
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { endpointsKey, listenerKey } from "../../common/src/ir/keys.ts";
import { encodeResource, type Resource } from "../../common/src/ir/resource.ts";
import { createSnapshot, fullUpdate } from "../../common/src/ir/snapshot.ts";
import { readStandaloneSettings } from "../../common/src/settings/settings.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogSink } from "../../common/src/telemetry/log-sink.ts";
import { createLogger } from "../../common/src/telemetry/logger.ts";
import { startSupervisor } from "../../proxy/src/worker/supervisor.ts";
import type { LoadAnswer, LoadOrder } from "./orders.ts";
import { createLooks } from "../looks.ts";
import { hostRoute } from "../snapshot/resources.ts";
import type { Look } from "./watched-worker.ts";

const routes = Number(process.env["ROUTES"] ?? 10_000);
const workers = Number(process.env["WORKERS"] ?? 2);
const scrapes = Number(process.env["SCRAPES"] ?? 5);
/** Enough connections for each worker to have some. */
const connections = 8;

function resources(backendPort: number): readonly Resource[] {
  const backend = { service: "ns/web", endpoints: "ns/web/80" };
  const ofHosts = Array.from({ length: routes }, (_, index) => hostRoute(index, "/", backend));
  return [
    ...ofHosts,
    encodeResource<"endpoints">(endpointsKey("ns/web/80"), {
      service: "ns/web",
      resolve: "static",
      addresses: [{ host: "127.0.0.1", port: backendPort }],
    }),
    encodeResource<"listener">(listenerKey("ingress"), {
      listeners: [{ port: 80, publicPort: 80, protocol: "http" }],
    }),
  ];
}

async function main(): Promise<void> {
  const flags = ["--manifests", ".", "--port-map", "80=0", "--proxy-workers", String(workers)];
  const argv = [...flags, "--proxy-bind-address", "127.0.0.1", "--log", "error", "--access-log=false"];
  const read = readStandaloneSettings({ argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  const sink = createLogSink({ fd: 2 });
  const log = createLogger("svc_proxy", {
    levels: createLogLevels(read.value.settings.log),
    format: "console",
    sink,
  });
  const program = new URL("./watched-worker.ts", import.meta.url);
  const started = await startSupervisor({ settings: read.value.settings, log, sink, program });
  if (!started.ok) throw new Error(started.error.message);
  const supervisor = started.value;

  const load = new Worker(new URL("./load.ts", import.meta.url));
  const order = async (message: LoadOrder): Promise<LoadAnswer> => {
    load.postMessage(message);
    const [answer] = (await once(load, "message")) as [LoadAnswer];
    return answer;
  };
  const [backend] = (await once(load, "message")) as [LoadAnswer];
  if (backend.type !== "backend") throw new Error("no backend");
  const applied = await supervisor.apply(fullUpdate(createSnapshot(resources(backend.port))));
  if (!applied.ok) throw new Error(applied.error.message);
  const port = supervisor.localPort(80) ?? 0;
  await order({ type: "fill", port, routes, connections });

  const look = createLooks<Look>(workers);

  await look();
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const before = process.threadCpuUsage();
    const startMs = performance.now();
    const { body } = await supervisor.metrics();
    const tookMs = performance.now() - startMs;
    const { user, system } = process.threadCpuUsage(before);
    const looks = await look();
    print(
      `scrape ${scrape + 1}: ${body.split("\n").length} lines, ${mib(body.length)} MiB, ${tookMs.toFixed(0)} ms;`,
      `main thread ${((user + system) / 1000).toFixed(0)} ms;`,
      `workers ${looks.map(({ processorMs }) => processorMs.toFixed(1)).join(", ")} ms,`,
      `stopped for ${looks.map(({ longestStopMs }) => longestStopMs.toFixed(1)).join(", ")} ms;`,
      `resident ${mib(process.memoryUsage.rss())} MiB`,
    );
  }
  for (const isScraped of [false, true, false, true]) {
    const watched = order({ type: "watch", port, connections, ms: 4000 });
    await look();
    for (let scrape = 0; isScraped && scrape < 3; scrape++) await supervisor.metrics();
    const { latencies } = (await watched) as Extract<LoadAnswer, { type: "watched" }>;
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    const looks = await look();
    print(
      `${isScraped ? "with three scrapes" : "without a scrape"}: ${sorted.length} requests,`,
      `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${sorted.at(-1)?.toFixed(1)} ms;`,
      `workers stopped for ${looks.map(({ longestStopMs }) => longestStopMs.toFixed(1)).join(", ")} ms`,
    );
  }
  await supervisor.shutdown(AbortSignal.abort());
  await load.terminate();
  await sink.close();
}

const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
const print = (...parts: readonly string[]): boolean => process.stdout.write(`${parts.join(" ")}\n`);

await main();
process.exit();
