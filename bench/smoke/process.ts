import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Starts a command pinned to one processor. */
export function startPinned(cpu: number, command: string, args: readonly string[]): ChildProcess {
  return spawn("taskset", ["-c", String(cpu), command, ...args], { stdio: ["ignore", "ignore", "inherit"] });
}

/** Ports that nothing listens on, all different: several runs on one machine do not meet. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

/** Waits until something accepts on the port; fails after ten seconds. */
export async function waitForPort(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("close", () => socket.destroy());
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
    await delay(100);
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** Processor time of a process and its children in seconds, from the scheduler's own count. */
export function cpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const id of [pid, ...childrenOf(pid)]) {
    for (const task of tasksOf(id)) {
      nanoseconds += Number(readFileSync(`/proc/${id}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    }
  }
  return nanoseconds / 1e9;
}

function tasksOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function childrenOf(pid: number): readonly number[] {
  const direct = tasksOf(pid).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return direct.flatMap((child) => [child, ...childrenOf(child)]);
}

export const isInstalled = (command: string): boolean =>
  spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

/** Ends a process and waits for it; a stubborn one is killed after three seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
  await gone;
  clearTimeout(timer);
}
