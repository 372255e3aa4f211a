/**
 * Measures the effect of a mirror on the latency of the mirrored requests: the same load, at a fixed rate, on routes
 * without a mirror, with a live one, with one that never answers, and with one that refuses connections. See
 * docs/scale.md, "Mirrors".
 */
import { spawn, type ChildProcess } from "node:child_process";
import { Agent, createServer, request } from "node:http";
import { resolve } from "node:path";
import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { endTogether, freePorts, removeFolder, stop, temporaryFolder, waitForPort } from "../processes.ts";
import { mirrorKinds, writeManifests, type MirrorKind } from "./manifests.ts";

const rounds = Number(process.env["ROUNDS"] ?? 8);
const seconds = Number(process.env["SECONDS"] ?? 3);
const requestsPerSecond = Number(process.env["RATE"] ?? 200);

const body = Buffer.alloc(1024, "x");

/** Latencies in milliseconds of requests that start at a fixed rate, whether or not earlier ones have ended. */
async function measure(port: number, host: string): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true });
  const pending: Promise<number>[] = [];
  const startedMs = performance.now();
  for (let i = 0; i < seconds * requestsPerSecond; i++) {
    const dueMs = startedMs + (i * 1000) / requestsPerSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 1) await delay(waitMs);
    pending.push(post(port, host, agent, dueMs));
  }
  const latencies = await Promise.all(pending);
  agent.destroy();
  return latencies;
}

/** Sends a request and returns its latency since it was due, so that a late start counts as well. */
function post(port: number, host: string, agent: Agent, dueMs: number): Promise<number> {
  return new Promise((settle, reject) => {
    const sent = request({ host: "127.0.0.1", port, method: "POST", headers: { host }, agent });
    sent.once("error", reject);
    sent.once("response", (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume().once("end", () => settle(performance.now() - dueMs));
    });
    sent.end(body);
  });
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function main(): Promise<void> {
  const folder = temporaryFolder("mirror");
  const answering = createServer(
    (incoming, response) => void incoming.resume().on("end", () => response.end("ok")),
  );
  const silent = createTcpServer((socket) => socket.on("error", () => {}).resume());
  for (const server of [answering, silent]) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
  const [httpPort = 0, tlsPort, adminPort, healthPort, closedPort = 0] = await freePorts(5);
  const portOf = (server: typeof silent): number => (server.address() as AddressInfo).port;
  writeManifests(folder, {
    backend: portOf(answering),
    live: portOf(answering),
    silent: portOf(silent),
    refusing: closedPort,
  });
  const bundle = resolve(import.meta.dirname, "../../dist/svc-gateway.mjs");
  const gateway: ChildProcess = endTogether(
    spawn(
      process.execPath,
      [
        ...[bundle, "serve", "standalone", "--manifests", folder, "--log", "error", "--access-log=false"],
        ...["--port-map", `80=${httpPort},443=${tlsPort}`],
        ...["--admin-port", String(adminPort), "--health-port", String(healthPort)],
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    ),
  );
  try {
    await waitForPort(httpPort);
    const samples = new Map<MirrorKind, number[]>(mirrorKinds.map((kind) => [kind, []]));
    for (let round = -1; round < rounds; round++) {
      // Each kind is the first one once in four rounds, so that a machine that slows down or recovers favours none.
      for (const [index] of mirrorKinds.entries()) {
        const kind = mirrorKinds[(index + round + 1) % mirrorKinds.length] ?? "none";
        const latencies = await measure(httpPort, `${kind}.example.com`);
        // The first round is a warm-up.
        if (round >= 0) samples.get(kind)?.push(...latencies);
      }
    }
    for (const [kind, latencies] of samples) {
      const sorted = latencies.sort((a, b) => a - b);
      const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
      process.stdout.write(
        `${kind.padEnd(9)} p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms  of ${sorted.length} requests\n`,
      );
    }
  } finally {
    await stop(gateway);
    answering.closeAllConnections();
    answering.close();
    silent.close();
    removeFolder(folder);
  }
}

await main();
process.exit();
