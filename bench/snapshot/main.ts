/**
 * Measures the cost of snapshots of many routes for a worker: how long its event loop is blocked, when the first
 * request is answered, and how much memory it needs. See docs/scale.md, "Snapshots in a proxy".
 */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createSnapshot, diffSnapshots, fullUpdate, type Snapshot } from "../../common/src/ir/snapshot.ts";
import { readStandaloneSettings } from "../../common/src/settings/settings.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogSink } from "../../common/src/telemetry/log-sink.ts";
import { createLogger } from "../../common/src/telemetry/logger.ts";
import { startSupervisor } from "../../proxy/src/worker/supervisor.ts";
import { createLooks } from "../looks.ts";
import { hostOf, resources } from "./resources.ts";
import type { Look } from "./watched-worker.ts";

const routes = Number(process.env["ROUTES"] ?? 10_000);
const workers = Number(process.env["WORKERS"] ?? 1);
const rounds = Number(process.env["ROUNDS"] ?? 5);

function statusOf(port: number, index: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, headers: { host: hostOf(index) }, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject).end();
  });
}

async function main(): Promise<void> {
  const backend = createServer((_, response) => response.end("ok"));
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  const backendPort = (backend.address() as AddressInfo).port;
  const first = createSnapshot(resources(routes, backendPort, () => "/"));
  const allChanged = createSnapshot(resources(routes, backendPort, () => "/changed"));
  const oneChanged = createSnapshot(resources(routes, backendPort, (index) => (index === 42 ? "/one" : "/")));

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

  const askWorkers = createLooks<Look>(workers);
  const look = async (): Promise<readonly Look[]> => {
    const looks = await askWorkers();
    await new Promise((done) => setTimeout(done, 100));
    return looks;
  };

  const startMs = performance.now();
  const started = await startSupervisor({ settings: read.value.settings, log, sink, program });
  if (!started.ok) throw new Error(started.error.message);
  const supervisor = started.value;
  const workersMs = performance.now() - startMs;
  const [empty] = await look();
  const apply = async (
    name: string,
    from: Snapshot | undefined,
    to: Snapshot,
    path: string,
  ): Promise<void> => {
    const beginMs = performance.now();
    const applied = await supervisor.apply(from === undefined ? fullUpdate(to) : diffSnapshots(from, to));
    if (!applied.ok) throw new Error(applied.error.message);
    const appliedMs = performance.now() - beginMs;
    const status = await statusOf(supervisor.localPort(80) ?? 0, 42, path);
    const answeredMs = performance.now() - beginMs;
    if (status !== 200) throw new Error(`${name}: status ${status}`);
    const looks = await look();
    const stops = looks.map(({ longestStopMs }) => longestStopMs.toFixed(1)).join(", ");
    const turns = looks.map((one) => one.longestTurnMs.toFixed(1)).join(", ");
    const used = looks.map(({ processorMs }) => processorMs.toFixed(0)).join(", ");
    const live = looks.map(({ liveBytes }) => mib(liveBytes - (empty?.liveBytes ?? 0))).join(", ");
    print(
      `${name}: applied after ${appliedMs.toFixed(0)} ms, answered after ${answeredMs.toFixed(0)} ms;`,
      `worker used ${used} ms and stopped for at most ${stops} ms, ${turns} ms of its own time; ${live} MiB more than without routes`,
    );
  };
  print(`${workers} worker(s) ready after ${workersMs.toFixed(0)} ms`);
  await apply(`first snapshot of ${routes} routes`, undefined, first, "/");
  for (let round = 0; round < rounds; round++) {
    await apply("all routes changed", first, allChanged, "/changed");
    await apply("all routes changed back", allChanged, first, "/");
    await apply("one route changed", first, oneChanged, "/one");
    await apply("one route changed back", oneChanged, first, "/");
  }
  await supervisor.shutdown(AbortSignal.abort());
  backend.close();
  await sink.close();
}

const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
const print = (...parts: readonly string[]): boolean => process.stdout.write(`${parts.join(" ")}\n`);

await main();
process.exit();
