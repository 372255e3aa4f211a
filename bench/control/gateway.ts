/** The processes under test, as they run in pods: `serve controller` and `serve proxy --shared`. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stop } from "../processes.ts";
import { installNamespace } from "./objects.ts";

export type Gateway = {
  readonly name: string;
  readonly pid: number;
  /** The entries that the process has logged so far. */
  log(): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
};

export type GatewayOptions = {
  readonly name: string;
  readonly folder: string;
  readonly flags: Readonly<Record<string, string | number | true>>;
  readonly healthPort: number;
};

const program = resolve(import.meta.dirname, "../../dist/svc-gateway");
const readyLimitMs = 120_000;
/**
 * The Node.js options that config/chart/templates sets, and the heap size that Node.js gives a controller under its
 * memory limit.
 */
const nodeOptions = {
  controller: "--max-semi-space-size=8 --max-old-space-size=512",
  proxy: "--max-semi-space-size=4",
} as const;

/** Starts a process and waits until it is ready. */
export async function startGateway(role: "controller" | "proxy", options: GatewayOptions): Promise<Gateway> {
  const { name, folder, healthPort } = options;
  const logPath = join(folder, `${name}.log`);
  const flags: GatewayOptions["flags"] = {
    "pod-name": name,
    "pod-namespace": installNamespace,
    "health-port": healthPort,
    "admin-port": healthPort + 1,
    ...options.flags,
  };
  const args = Object.entries(flags).map(([flag, value]) =>
    value === true ? `--${flag}` : `--${flag}=${value}`,
  );
  const log = openSync(logPath, "w");
  const child = spawn(program, ["serve", role, ...args], {
    stdio: ["ignore", log, log],
    env: { ...process.env, NODE_OPTIONS: nodeOptions[role] },
  });
  closeSync(log);
  const read = (): string => readFileSync(logPath, "utf8");
  await waitUntilReady(child, healthPort, () => `${name}: ${read().slice(-2_000)}`);
  return {
    name,
    pid: child.pid ?? 0,
    log: () =>
      read()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    stop: () => stop(child),
  };
}

async function waitUntilReady(child: ChildProcess, port: number, describe: () => string): Promise<void> {
  const endMs = performance.now() + readyLimitMs;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    if (child.exitCode !== null || performance.now() > endMs) throw new Error(`not ready: ${describe()}`);
    await delay(20);
  }
}

/** The current and the peak resident memory, in MB. */
export function memoryOf(pid: number): { readonly rss: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): number =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / 1e6;
  return { rss: field("VmRSS"), peak: field("VmHWM") };
}

/** The value of a metric family without labels, or the sum of its series. */
export async function metricOf(healthPort: number, family: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${healthPort + 1}/metrics`)).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
