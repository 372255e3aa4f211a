/**
 * Measures the time from the start of a process with many routes to its first answered request: in standalone mode,
 * and of a proxy that gets its first snapshot from a controller. See docs/scale.md, "Start".
 */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  cpuSeconds,
  freePorts,
  removeFolder,
  residentKiB,
  startPinned,
  stop,
  temporaryFolder,
} from "../processes.ts";
import { startStream } from "./controller.ts";
import { hostOf, writeManifests } from "./manifests.ts";

const routes = Number(process.env["ROUTES"] ?? 10_000);
const rounds = Number(process.env["ROUNDS"] ?? 5);
const processors = process.env["PROCESSORS"] ?? "0-1";
const program = process.env["PROGRAM"] ?? join(import.meta.dirname, "../../dist/svc-gateway.mjs");

/** The status of a request for the host of this route; undefined while no process listens. */
function statusOf(port: number, index: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { host: hostOf(index) };
    const asked = request({ port, host: "127.0.0.1", headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    asked.on("error", () => resolve(undefined)).end();
  });
}

type Asked = { readonly port: number; readonly index: number };

/** Starts a proxy or gateway, waits until these routes are answered, and ends it. */
async function measure(what: string, args: readonly string[], asked: readonly Asked[]): Promise<void> {
  const own = ["--proxy-bind-address", "127.0.0.1", "--proxy-workers", "1", "--log", "error"];
  const ports = ["--admin-port", "0", "--health-port", "0"];
  const startMs = performance.now();
  const child = startPinned(processors, process.execPath, [program, "serve", ...args, ...ports, ...own]);
  try {
    for (const { port, index } of asked) {
      while ((await statusOf(port, index)) !== 200) {
        if (child.exitCode !== null) throw new Error(`the process has ended with ${child.exitCode}`);
        await delay(5);
      }
    }
    const ms = performance.now() - startMs;
    const pid = child.pid ?? 0;
    const [cpuMs, mib] = [cpuSeconds(pid) * 1_000, residentKiB(pid) / 1_024];
    process.stdout.write(
      `${what} with ${routes} routes: first requests answered after ${ms.toFixed(0)} ms; ${cpuMs.toFixed(0)} ms of processor time, ${mib.toFixed(0)} MiB resident\n`,
    );
  } finally {
    await stop(child);
  }
}

async function main(): Promise<void> {
  const backend = createServer((_, response) => response.end("ok")).listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port: backendPort } = backend.address() as AddressInfo;
  const folder = temporaryFolder("start");
  const manifests = join(folder, "manifests");
  writeManifests(manifests, routes, backendPort);
  const stream = await startStream(folder, routes, backendPort);
  try {
    for (let round = 0; round < rounds; round++) {
      const [http = 0, gateway = 0] = await freePorts(2);
      await measure(
        "standalone",
        ["standalone", "--manifests", manifests, "--port-map", `80=${http},8080=${gateway}`],
        [
          { port: http, index: routes - 2 },
          { port: gateway, index: routes - 1 },
        ],
      );
      const args = ["proxy", ...stream, "--port-map", `80=${http}`];
      await measure("proxy of a controller", args, [{ port: http, index: routes - 1 }]);
    }
  } finally {
    removeFolder(folder);
  }
}

await main();
process.exit();
