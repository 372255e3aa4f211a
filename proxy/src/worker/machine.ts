import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join, dirname } from "node:path";

/** The resources of the machine that this process may use. */
export type Machine = {
  /** Processors, fractional with a CPU limit. */
  readonly processors: number;
  readonly memoryBytes: number;
};

/** How files are read; undefined when there is no such file. */
export type ReadFile = (path: string) => string | undefined;

const mebibyte = 1024 * 1024;

/**
 * Reads what the container of this process may use: affinity, and the limits of its control groups, versions 1 and 2.
 */
export function readMachine(): Machine {
  const memoryLimit = process.constrainedMemory();
  return {
    processors: Math.min(availableParallelism(), processorLimit(readOptional)),
    memoryBytes: memoryLimit > 0 ? Math.min(memoryLimit, totalmem()) : totalmem(),
  };
}

/** Memory that a worker needs beside its processor. */
const memoryPerWorkerBytes = 128 * mebibyte;

/** `--proxy-workers`: the configured number, or one per whole processor, limited by memory. */
export function workerCount(asked: number, { processors, memoryBytes }: Machine): number {
  if (asked > 0) return asked;
  return Math.max(1, Math.min(Math.floor(processors), Math.floor(memoryBytes / memoryPerWorkerBytes)));
}

const minHeapMegabytes = 96;
/** More than a worker needs with a hundred thousand routes; only a bug fills a larger one. */
const maxHeapMegabytes = 4096;
/** The rest is for buffers, stacks, the code and the supervisor. */
const heapShare = 0.6;

/** Heap of one worker in MiB, so that a worker that fills its heap ends before the system ends the process. */
export const workerHeapMegabytes = (workers: number, { memoryBytes }: Machine): number =>
  Math.min(
    maxHeapMegabytes,
    Math.max(minHeapMegabytes, Math.floor((memoryBytes * heapShare) / workers / mebibyte)),
  );

/** The limit where the system does not report one. */
const usualDescriptors = 1_024;

/** Descriptors that this process may open: the soft limit, which Node raises to the hard one when it starts. */
export function descriptorLimit(read: ReadFile = readOptional): number {
  const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(read("/proc/self/limits") ?? "") ?? [];
  if (soft === undefined) return usualDescriptors;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Memory limit per connection: an idle one over TLS takes about 80 KiB, the rest is for the proxy itself. */
const memoryPerConnectionBytes = 128 * 1024;
const maxDefaultConnections = 50_000;

/** Share of the descriptors for client connections: each may need another one to a backend, and probes need some. */
const connectionShareOfDescriptors = 1 / 2;

/** How many connections of clients leave descriptors for backends, probes and files. */
export const connectionsOf = (descriptors: number): number =>
  Math.max(1, Math.floor(descriptors * connectionShareOfDescriptors));

/** `--proxy-max-connections`: the configured number, or the number that memory and descriptors of the process allow. */
export const connectionLimit = (
  asked: number,
  { memoryBytes }: Machine,
  descriptors = descriptorLimit(),
): number =>
  asked > 0
    ? asked
    : Math.max(
        1,
        Math.min(
          maxDefaultConnections,
          Math.floor(memoryBytes / memoryPerConnectionBytes),
          connectionsOf(descriptors),
        ),
      );

/** An eighth of a worker's share of the memory. */
const responseShare = 1 / 8;

/** Memory for all responses of one worker that wait for their clients, in bytes. */
export const responseMemoryBytes = (workers: number, { memoryBytes }: Machine): number =>
  Math.floor((memoryBytes * responseShare) / workers);

/** Processors that the control groups of this process allow; infinite without a limit. */
export function processorLimit(read: ReadFile): number {
  let limit = Number.POSITIVE_INFINITY;
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [, id, controllers, path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    const isVersion2 = id === "0" && controllers === "";
    if (!isVersion2 && controllers?.split(",").includes("cpu") !== true) continue;
    // A container sees its own group as the root, while /proc may still show its path on the host.
    const roots = isVersion2
      ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
      : ["/sys/fs/cgroup/cpu", `/sys/fs/cgroup/${controllers}`];
    for (const root of roots) {
      for (const folder of withParents(path)) {
        limit = Math.min(limit, quotaOf(join(root, folder), isVersion2, read));
      }
    }
  }
  return limit;
}

function quotaOf(folder: string, isVersion2: boolean, read: ReadFile): number {
  const [quota, period] = isVersion2
    ? (read(join(folder, "cpu.max")) ?? "").split(" ").map(Number)
    : ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map((file) => Number(read(join(folder, file)) ?? Number.NaN));
  // "max" and -1 mean no limit.
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0))
    return Number.POSITIVE_INFINITY;
  return quota / period;
}

/** A group and its parents: the limits of all of them apply. */
function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withParents(parent)];
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
