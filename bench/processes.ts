/** Processes that benches start: their start, their cost and their end. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** The running processes, with the signal that ends each of them. */
const running = new Map<ChildProcess, "SIGTERM" | "SIGKILL">();
const folders = new Set<string>();
/** Exit codes that a shell reports for a process ended by a signal. */
const codes = { SIGINT: 130, SIGTERM: 143 } as const;
let isWatching = false;
let isEnding = false;

/**
 * Ends a process with `signal` when SIGINT or SIGTERM ends this one. A terminal sends these signals to both
 * processes, but a supervisor does not. Returns the process.
 */
export function endTogether<Child extends ChildProcess>(
  child: Child,
  signal: "SIGTERM" | "SIGKILL" = "SIGTERM",
): Child {
  if (child.pid === undefined) return child;
  watchSignals();
  running.set(child, signal);
  child.once("exit", () => running.delete(child));
  if (isEnding) child.kill("SIGKILL");
  return child;
}

/** Whether the logs and profiles of a run are kept (`KEEP=1`). */
export const areLogsKept = process.env["KEEP"] === "1";

/** Creates a folder `svc-gateway-<name>-…`. Unless it `isKept`, it is also removed when a signal ends this process. */
export function temporaryFolder(name: string, parent = tmpdir(), isKept = false): string {
  watchSignals();
  const folder = mkdtempSync(join(parent, `svc-gateway-${name}-`));
  if (!isKept) folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

function watchSignals(): void {
  if (isWatching) return;
  isWatching = true;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end(codes[signal]));
}

/** Ends all processes, removes the folders, and exits. A second signal kills the processes that have not ended yet. */
async function end(code: number): Promise<void> {
  if (isEnding) {
    for (const child of running.keys()) child.kill("SIGKILL");
    return;
  }
  isEnding = true;
  // Without its processes the run fails, which must not end this process before all of them have ended.
  process.setUncaughtExceptionCaptureCallback(() => undefined);
  process.on("exit", () => {
    for (const child of running.keys()) child.kill("SIGKILL");
    for (const folder of folders) removeFolder(folder);
    process.exitCode = code;
  });
  await Promise.all(Array.from(running, ([child, signal]) => stop(child, signal)));
  process.exit(code);
}

/**
 * Starts a command pinned to processors, such as `0` or `0-3`, which ends with this process. Only its errors are
 * shown.
 */
export function startPinned(
  cpus: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return endTogether(
    spawn("taskset", ["-c", cpus, command, ...args], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, ...env },
    }),
  );
}

/** Distinct ports on which no process listens, so that several runs on one machine do not conflict. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

/** Waits until a process accepts connections on the port; throws after `seconds`. */
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

/** Processor time of a process and its children in seconds, as accounted by the scheduler. */
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

/** Ends a process and waits for it; kills it after three seconds. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), 3000);
  await exited;
  clearTimeout(timer);
}
