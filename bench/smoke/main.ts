/**
 * Requests per second and core of this proxy and of nginx, side by side in one run: 1,000 routes over HTTP/1.1
 * keep-alive, metrics and a JSON access log on. The figure to quote is the ratio. See docs/benchmarks.md.
 */
import { type ChildProcess, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { writeManifests } from "./manifests.ts";
import { writeBackendConfig, writeProxyConfig } from "./nginx.ts";
import { cpuSeconds, freePorts, isInstalled, startPinned, stop, waitForPort } from "./process.ts";

const rounds = Number(process.env["ROUNDS"] ?? 5);
const seconds = Number(process.env["SECONDS"] ?? 4);
const connections = Number(process.env["CONNECTIONS"] ?? 64);
/** At most 1024 together with a body in the request: a file cannot be posted to. */
const responseBytes = Number(process.env["RESPONSE_BYTES"] ?? 1024);
/** 0: GET, else POST. */
const requestBytes = Number(process.env["REQUEST_BYTES"] ?? 0);
/** For what is measured by default. */
const target = 0.55;

type Sample = { readonly requestsPerCore: number; readonly requests: number; readonly errors: number };

const requestHeaders = [
  "Host: h42.example.com",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
  "Accept: text/html,application/json;q=0.9,*/*;q=0.8",
  "Accept-Encoding: gzip, deflate, br",
  "Accept-Language: en-US,en;q=0.5",
  "Cookie: sid=0123456789abcdef0123456789abcdef; theme=dark",
];

/** Arguments that have wrk send a body, if there is to be one. */
function writeScript(folder: string): readonly string[] {
  if (requestBytes === 0) return [];
  const file = join(folder, "post.lua");
  writeFileSync(file, `wrk.method = "POST"\nwrk.body = string.rep("x", ${requestBytes})\n`);
  return ["-s", file];
}

function measure(port: number, pid: number, durationSeconds: number, script: readonly string[]): Sample {
  const before = cpuSeconds(pid);
  const headers = requestHeaders.flatMap((header) => ["-H", header]);
  const url = `http://127.0.0.1:${port}/svc7/items/123?x=1`;
  const load = [
    "-c",
    "1",
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${durationSeconds}s`,
    ...script,
    ...headers,
    url,
  ];
  const { stdout } = spawnSync("taskset", load, { encoding: "utf8" });
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0);
  const failed = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const socketErrors = [...(/Socket errors: (.*)/.exec(stdout)?.[1] ?? "").matchAll(/\d+/g)];
  const errors = failed + socketErrors.reduce((sum, match) => sum + Number(match[0]), 0);
  return { requestsPerCore: requests / (cpuSeconds(pid) - before), requests, errors };
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

async function main(): Promise<number> {
  const missing = ["nginx", "wrk", "taskset"].filter((command) => !isInstalled(command));
  if (missing.length > 0) {
    process.stderr.write(`bench-smoke needs ${missing.join(", ")} (Debian: nginx-light, wrk, util-linux)\n`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "svc-gateway-bench-"));
  // Workers that root's nginx starts are nobody's.
  chmodSync(folder, 0o755);
  const started: ChildProcess[] = [];
  const start = (cpu: number, command: string, args: readonly string[]): number => {
    const child = startPinned(cpu, command, args);
    started.push(child);
    if (child.pid === undefined) throw new Error(`${command} did not start`);
    return child.pid;
  };
  try {
    const ports = await freePorts(6);
    const [backendPort = 0, nginxPort = 0, gatewayPort = 0, tlsPort, adminPort, healthPort] = ports;
    writeManifests(join(folder, "manifests"), backendPort);
    start(1, "nginx", ["-p", folder, "-c", writeBackendConfig(folder, backendPort, responseBytes)]);
    const nginxPid = start(0, "nginx", [
      "-p",
      folder,
      "-c",
      writeProxyConfig(folder, nginxPort, backendPort),
    ]);
    const bundle = resolve(import.meta.dirname, "../../dist/svc-gateway.mjs");
    const gatewayPid = start(0, process.execPath, [
      ...[bundle, "serve", "standalone", "--manifests", join(folder, "manifests")],
      ...["--port-map", `80=${gatewayPort},443=${tlsPort}`],
      ...["--admin-port", String(adminPort), "--health-port", String(healthPort)],
    ]);
    for (const port of [backendPort, nginxPort, gatewayPort]) await waitForPort(port);
    const script = writeScript(folder);
    const samples = { gateway: [] as Sample[], nginx: [] as Sample[] };
    measure(gatewayPort, gatewayPid, 3, script);
    measure(nginxPort, nginxPid, 1, script);
    for (let round = 0; round < rounds; round++) {
      samples.gateway.push(measure(gatewayPort, gatewayPid, seconds, script));
      samples.nginx.push(measure(nginxPort, nginxPid, seconds, script));
    }
    return report(samples);
  } finally {
    await Promise.all(started.map(stop));
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(samples: { readonly gateway: readonly Sample[]; readonly nginx: readonly Sample[] }): number {
  for (const [name, list] of Object.entries(samples)) {
    const rate = Math.round(median(list.map((sample) => sample.requestsPerCore)));
    const errors = list.reduce((sum, sample) => sum + sample.errors, 0);
    process.stdout.write(`${name.padEnd(8)} ${rate} requests/s per core, ${errors} errors\n`);
  }
  const ratios = samples.gateway.map(
    (sample, round) => sample.requestsPerCore / (samples.nginx[round]?.requestsPerCore ?? Number.NaN),
  );
  const ratio = median(ratios);
  const isDefault = requestBytes === 0 && responseBytes === 1024;
  const low = Math.min(...ratios);
  const high = Math.max(...ratios);
  process.stdout.write(
    `ratio    ${ratio.toFixed(2)} of nginx (median of ${ratios.length}; ${low.toFixed(2)} to ${high.toFixed(2)}${isDefault ? `; target ${target}` : ""})\n`,
  );
  const errors = [...samples.gateway, ...samples.nginx].reduce((sum, sample) => sum + sample.errors, 0);
  return errors === 0 && (ratio >= target || !isDefault) ? 0 : 1;
}

process.exitCode = await main();
