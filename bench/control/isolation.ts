/**
 * Linux namespaces for a run. It has its own network, in which one interface has an address that an EndpointSlice may
 * contain, and its own processes, which all end with the run, however that ends.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { endTogether } from "../processes.ts";

/**
 * The address of all components in the network of the run, in addition to loopback. The network has no connection to
 * the outside.
 */
export const address = "10.253.0.1";

const marker = "BENCH_CONTROL_INSIDE";
const definitionsMarker = "BENCH_CONTROL_DEFINITIONS";

export const isInside = (): boolean => process.env[marker] !== undefined;

/** Runs this program again in its own namespaces. Returns its exit code, or 2 if they cannot be created. */
export async function runInside(folder: string, definitions: string): Promise<number> {
  const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const own = [...asRoot, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const args = [...own, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child: ChildProcess = spawn("unshare", args, {
    stdio: "inherit",
    env: { ...process.env, [marker]: folder, [definitionsMarker]: definitions },
  });
  // The child ignores the signals that end other processes. Killing it ends all processes inside.
  endTogether(child, "SIGKILL");
  const [code] = (await Promise.race([
    once(child, "exit"),
    once(child, "error").then(() => [undefined]),
  ])) as [number | null | undefined];
  return code ?? 2;
}

/** The folder of the run. */
export const runFolder = (): string => process.env[marker] ?? "";

/** A folder with the definitions of the Gateway API, which cannot be downloaded inside the namespaces. */
export const definitionsFolder = (): string => process.env[definitionsMarker] ?? "";

/** Enables the network of the run. */
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
