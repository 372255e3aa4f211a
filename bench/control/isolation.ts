/**
 * Namespaces of one's own: the run has its own network, whose one interface carries an address that an EndpointSlice may
 * name, and its own processes, all of which end with the run, however that ends.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { endTogether } from "../processes.ts";

/** The address of everything in the run's network besides loopback. Nothing outside can reach it, or be reached. */
export const address = "10.253.0.1";

const marker = "BENCH_CONTROL_INSIDE";
const definitionsMarker = "BENCH_CONTROL_DEFINITIONS";

export const isInside = (): boolean => process.env[marker] !== undefined;

/** Runs this program again in namespaces of its own; its exit code, or 2 when there can be none. */
export async function runInside(folder: string, definitions: string): Promise<number> {
  const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const own = [...asRoot, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const args = [...own, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child: ChildProcess = spawn("unshare", args, {
    stdio: "inherit",
    env: { ...process.env, [marker]: folder, [definitionsMarker]: definitions },
  });
  // It ignores the signals that end others, and takes all processes inside with it.
  endTogether(child, "SIGKILL");
  const [code] = (await Promise.race([
    once(child, "exit"),
    once(child, "error").then(() => [undefined]),
  ])) as [number | null | undefined];
  return code ?? 2;
}

/** The folder of the run. */
export const runFolder = (): string => process.env[marker] ?? "";

/** A folder with the definitions of the Gateway API, which inside could not be fetched. */
export const definitionsFolder = (): string => process.env[definitionsMarker] ?? "";

/** Brings the network of the run up. */
export function openNetwork(): void {
  const commands = [
    ["link", "set", "lo", "up"],
    ["address", "add", `${address}/32`, "dev", "lo"],
  ];
  for (const command of commands) {
    const { status, stderr } = spawnSync("ip", command, { encoding: "utf8" });
    if (status !== 0) throw new Error(`ip ${command.join(" ")}: ${stderr}`);
  }
}
