/** Processes that benches start, what they cost, and how they end. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Starts a command pinned to processors, such as `0` or `0-3`. Its output goes nowhere, but for errors. */
export function startPinned(
  cpus: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn("taskset", ["-c", cpus, command, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
}

/** Ports that nothing listens on, all different: several runs on one machine do not meet. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

/** Waits until something accepts on the port; throws after `seconds`. */
export async function waitForPort(port: number, seconds = 60): Promise<void> {
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await Promise.race([
      once(socket, "connect").then(
        () => true,
        () => false,
      ),
      once(socket, "error").then(() => false),
    ]);
    socket.destroy();
    if (isOpen) return;
    await delay(50);
  }
  throw new Error(`no process listens on port ${port}`);
}

/** Processor time of a process and its children in seconds, from the scheduler's own account. */
export function cpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const id of withChildren(pid)) {
    for (const task of tasksOf(id)) {
      nanoseconds += Number(readFileSync(`/proc/${id}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    }
  }
  return nanoseconds / 1e9;
}

/** Resident memory of a process and its children. */
export const residentKiB = (pid: number): number =>
  withChildren(pid).reduce((sum, id) => {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    return sum + Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }, 0);

const withChildren = (pid: number): readonly number[] => [
  pid,
  ...tasksOf(pid).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
      .split(" ")
      .filter(Boolean)
      .flatMap((child) => withChildren(Number(child))),
  ),
];

function tasksOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

export const isInstalled = (command: string): boolean =>
  spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

/** Ends a process and waits for it; it is killed when that takes three seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 3000);
  await exited;
  clearTimeout(timer);
}
