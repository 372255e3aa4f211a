/**
 * How long after the start of a standalone process with many routes its first request is answered. See docs/scale.md,
 * "Start".
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { cpuSeconds, freePorts, residentKiB, startPinned, stop } from "../processes.ts";
import { hostOf, writeManifests } from "./manifests.ts";

const routes = Number(process.env["ROUTES"] ?? 10_000);
const rounds = Number(process.env["ROUNDS"] ?? 5);
const processors = process.env["PROCESSORS"] ?? "0-1";
const program = process.env["PROGRAM"] ?? join(import.meta.dirname, "../../dist/svc-gateway.mjs");

/** The status of a request for the host of this route; undefined while nothing listens. */
function statusOf(port: number, index: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { host: hostOf(index) };
    const asked = request({ port, host: "127.0.0.1", headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    asked.on("error", () => resolve(undefined)).end();
  });
}

/** Starts, waits for the answers of the first and the last route, and ends. */
async function measure(
  folder: string,
): Promise<{ readonly ms: number; readonly cpuMs: number; readonly mib: number }> {
  const [ingressPort = 0, gatewayPort = 0] = await freePorts(2);
  const ports = [
    "--port-map",
    `80=${ingressPort},8080=${gatewayPort}`,
    "--admin-port",
    "0",
    "--health-port",
    "0",
  ];
  const args = [program, "serve", "standalone", "--manifests", folder, ...ports];
  const own = ["--proxy-bind-address", "127.0.0.1", "--proxy-workers", "1", "--log", "error"];
  const startMs = performance.now();
  const child = startPinned(processors, process.execPath, [...args, ...own]);
  try {
    for (const [port, index] of [
      [ingressPort, routes - 2],
      [gatewayPort, routes - 1],
    ] as const) {
      while ((await statusOf(port, index)) !== 200) {
        if (child.exitCode !== null) throw new Error(`the process has ended with ${child.exitCode}`);
        await delay(5);
      }
    }
    const ms = performance.now() - startMs;
    const pid = child.pid ?? 0;
    return { ms, cpuMs: cpuSeconds(pid) * 1_000, mib: residentKiB(pid) / 1_024 };
  } finally {
    await stop(child);
  }
}

async function main(): Promise<void> {
  const backend = createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const folder = mkdtempSync(join(tmpdir(), "svc-gateway-start-"));
  try {
    writeManifests(folder, routes, (backend.address() as AddressInfo).port);
    for (let round = 0; round < rounds; round++) {
      const { ms, cpuMs, mib } = await measure(folder);
      process.stdout.write(
        `${routes} routes: first requests answered after ${ms.toFixed(0)} ms; ${cpuMs.toFixed(0)} ms of processor time, ${mib.toFixed(0)} MiB resident\n`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
    backend.close();
  }
}

await main();
