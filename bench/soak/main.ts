/**
 * Ten minutes of all protocols simultaneously: clients of every protocol that HTTP listeners support, while a route
 * changes each second and backends restart in turn. Fails when a client sees an error, or when the memory of the
 * gateway grows by more than a twentieth after the first minute. See docs/scale.md, "Soak".
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { endTogether, freePorts, removeFolder, stop, temporaryFolder, waitForPort } from "../processes.ts";
import { type Instance, startInstance } from "./backend.ts";
import { runGrpc } from "./clients/grpc.ts";
import { runHttp1 } from "./clients/http1.ts";
import { runHttp2 } from "./clients/http2.ts";
import { runWebSocket } from "./clients/websocket.ts";
import { writeEndpoints, writeFixed, writeRoutes } from "./manifests.ts";
import { pause, type Stage } from "./stage.ts";
import { Tally } from "./tally.ts";

const seconds = Number(process.env["SECONDS"] ?? 600);
const connections = Number(process.env["CONNECTIONS"] ?? 2000);
const growthLimit = 0.05;

/** The share of the connections that each kind of client has. */
const crowd: readonly (readonly [share: number, run: (stage: Stage) => Promise<void>])[] = [
  [0.6, (stage) => runHttp1(stage, "small")],
  [0.05, (stage) => runHttp1(stage, "upload")],
  [0.05, (stage) => runHttp1(stage, "download")],
  [0.1, runHttp2],
  [0.05, runGrpc],
  [0.15, runWebSocket],
];

const printLine = (text: string): void => void process.stdout.write(`${text}\n`);

/** Resident memory of a process, in MiB. */
function residentMiB({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function startGateway(folder: string, ports: readonly number[]): ChildProcess {
  const [http, tls, admin, health] = ports;
  const bundle = resolve(import.meta.dirname, "../../dist/svc-gateway.mjs");
  return endTogether(
    spawn(
      process.execPath,
      [
        ...[bundle, "serve", "standalone", "--manifests", folder, "--log", "error", "--access-log=false"],
        ...[
          "--port-map",
          `80=${http},443=${tls}`,
          "--admin-port",
          String(admin),
          "--health-port",
          String(health),
        ],
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    ),
  );
}

async function changeRoutes(folder: string, signal: AbortSignal): Promise<void> {
  for (let version = 1; await pause(1000, signal); version++) writeRoutes(folder, version);
}

/** Restarts the backends, one at a time. Each is first removed from the endpoints, as Kubernetes does it. */
async function restartBackends(
  folder: string,
  instances: Instance[],
  { tally, signal }: Stage,
): Promise<void> {
  for (let turn = 0; await pause(3000, signal); turn++) {
    const index = turn % instances.length;
    const [old] = instances.splice(index, 1, await startInstance());
    writeEndpoints(folder, instances);
    await pause(2000, signal);
    await old?.stop();
    tally.done("restarts");
  }
}

/** Samples the memory of the gateway once a second, and prints a line of progress every half minute. */
async function watchMemory(gateway: ChildProcess, { tally, signal }: Stage): Promise<readonly number[]> {
  const samples: number[] = [];
  while (await pause(1000, signal)) {
    samples.push(residentMiB(gateway));
    if (samples.length % 30 === 0) {
      printLine(
        `${samples.length} s: ${samples.at(-1)?.toFixed(0)} MiB; ${tally.summary}; errors ${tally.failures}`,
      );
    }
  }
  return samples;
}

/** The growth of the memory from the second minute to the last, as a share; undefined for a short soak. */
function growth(samples: readonly number[]): number | undefined {
  if (samples.length < 180) return undefined;
  const [early, late] = [mean(samples.slice(60, 120)), mean(samples.slice(-60))];
  printLine(`memory: ${early.toFixed(1)} MiB in the second minute, ${late.toFixed(1)} MiB in the last`);
  return late / early - 1;
}

async function main(): Promise<boolean> {
  const folder = temporaryFolder("soak");
  const ports = await freePorts(4);
  const instances = await Promise.all([startInstance(), startInstance(), startInstance()]);
  writeFixed(folder);
  writeRoutes(folder, 0);
  writeEndpoints(folder, instances);
  const gateway = startGateway(folder, ports);
  const end = new AbortController();
  try {
    const stage: Stage = { host: "127.0.0.1", port: ports[0] ?? 0, tally: new Tally(), signal: end.signal };
    await waitForPort(stage.port);
    const timer = setTimeout(() => end.abort(), seconds * 1000);
    gateway.once("exit", () => {
      stage.tally.failed("gateway", "ended by itself");
      clearTimeout(timer);
      end.abort();
    });
    const clients = crowd.flatMap(([share, run]) =>
      Array.from({ length: Math.max(1, Math.round(share * connections)) }, () => run(stage)),
    );
    printLine(`${clients.length} clients for ${seconds} s`);
    const [samples] = await Promise.all([
      watchMemory(gateway, stage),
      changeRoutes(folder, end.signal),
      restartBackends(folder, instances, stage),
      ...clients,
    ]);
    gateway.removeAllListeners("exit");
    for (const line of stage.tally.worst) printLine(line);
    const grown = growth(samples);
    printLine(`${stage.tally.summary}; errors ${stage.tally.failures}`);
    if (grown === undefined) printLine("the memory is not judged in less than three minutes");
    else printLine(`memory grew by ${(grown * 100).toFixed(1)} % (at most ${growthLimit * 100} %)`);
    return stage.tally.failures === 0 && (grown ?? 0) <= growthLimit;
  } finally {
    await stop(gateway);
    removeFolder(folder);
  }
}

process.exit((await main()) ? 0 : 1);
