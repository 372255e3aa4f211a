/**
 * Measures the cost per request of 10,000 routes and of a second worker: three gateways run simultaneously, and are
 * under load in turns. See docs/scale.md, "Requests". Needs taskset, wrk, openssl and a C compiler, as `make bench`
 * does.
 */
import type { ChildProcess } from "node:child_process";
import { join, resolve } from "node:path";
import { loadCpu, type Target } from "../compare/loads/load.ts";
import { wrk } from "../compare/loads/wrk.ts";
import { compiled } from "../compare/programs.ts";
import { createCertificate, createTokenIssuer, usual, type Variant } from "../compare/setup.ts";
import { gateway } from "../compare/subjects/gateway.ts";
import {
  cpuSeconds,
  freePorts,
  removeFolder,
  startPinned,
  stop,
  temporaryFolder,
  waitForPort,
} from "../processes.ts";

const rounds = Number(process.env["ROUNDS"] ?? 8);
const seconds = Number(process.env["SECONDS"] ?? 1);
const warmUpSeconds = 6;

const oneRoute: Variant = { ...usual, hosts: 1, paths: 1 };
const variants: Readonly<Record<string, Variant>> = {
  "one route": oneRoute,
  "10,000 routes": { ...usual, hosts: 1000 },
  "two workers": { ...oneRoute, workers: 2 },
};

const load = wrk();

/** Requests per second of processor time. */
async function rateOf(target: Target, forSeconds: number): Promise<number> {
  const before = cpuSeconds(target.pid);
  const { units, errors } = await load(target, forSeconds);
  if (errors > 0) throw new Error(`${errors} of ${units} requests failed`);
  return units / (cpuSeconds(target.pid) - before);
}

async function main(): Promise<void> {
  const folder = temporaryFolder("scale");
  const started: ChildProcess[] = [];
  try {
    const [backendPort = 0, grpcBackendPort = 0] = await freePorts(2);
    started.push(startPinned(String(loadCpu), compiled("backend"), [String(backendPort)]));
    const tls = createCertificate(join(folder, "tls"));
    const token = createTokenIssuer();
    const subject = gateway("gateway", resolve(import.meta.dirname, "../.."));
    const targets = new Map<string, Target>();
    for (const [name, variant] of Object.entries(variants)) {
      const [http = 0, https = 0] = await freePorts(2);
      const ports = { http, https, h2c: http };
      const own = join(folder, name.replaceAll(/\W/g, "-"));
      const setup = { variant, folder: own, tls, backendPort, grpcBackendPort, token };
      const command = subject.configure(setup, ports);
      if (command === undefined) continue;
      const child = startPinned(variant.workers === 1 ? "0" : "0-1", command.command, command.args);
      started.push(child);
      await waitForPort(http);
      targets.set(name, { ports, pid: child.pid ?? 0, token });
    }
    for (const target of targets.values()) await rateOf(target, warmUpSeconds);
    const ratios = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      const rates = new Map<string, number>();
      for (const [name, target] of round % 2 === 0 ? targets : [...targets].toReversed())
        rates.set(name, await rateOf(target, seconds));
      const base = rates.get("one route") ?? 0;
      for (const [name, rate] of rates) ratios.set(name, [...(ratios.get(name) ?? []), rate / base]);
    }
    for (const [name, ofRounds] of ratios)
      print(
        name,
        ofRounds.toSorted((a, b) => a - b),
      );
  } finally {
    await Promise.all(started.map((child) => stop(child)));
    removeFolder(folder);
  }
}

function print(name: string, sorted: readonly number[]): void {
  const text = (ratio = 0): string => ratio.toFixed(2);
  const median = sorted[Math.floor(sorted.length / 2)];
  const spread = `${text(sorted[0])} to ${text(sorted.at(-1))}`;
  process.stdout.write(
    `${name}: ${text(median)} (${spread}) of the requests of one route for each second of processor time\n`,
  );
}

await main();
