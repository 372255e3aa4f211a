import { availableParallelism, platform, totalmem } from "node:os";
import { processorLimit } from "@svc-gateway/common/linux/control-groups.ts";

/** The resources of the machine that this process may use. */
export type Machine = {
  /** The number of processors, fractional if a CPU limit applies. */
  readonly processors: number;
  readonly memoryBytes: number;
  /** Whether several sockets can listen on one port (SO_REUSEPORT), and the system divides connections among them. */
  readonly sharesPorts: boolean;
};

/** The platforms on which Node.js supports SO_REUSEPORT. Not macOS, which delivers every connection to one socket. */
const sharingPlatforms: ReadonlySet<string> = new Set(["linux", "freebsd", "dragonfly", "sunos", "aix"]);

const mebibyte = 1024 * 1024;

/** Reads the resources that this process may use: CPU affinity, and the limits of control groups, versions 1 and 2. */
export function readMachine(): Machine {
  const memoryLimit = process.constrainedMemory();
  return {
    processors: Math.min(availableParallelism(), processorLimit()),
    memoryBytes: memoryLimit > 0 ? Math.min(memoryLimit, totalmem()) : totalmem(),
    sharesPorts: sharingPlatforms.has(platform()),
  };
}

/** The memory per worker that limits the default number of workers. */
const memoryPerWorkerBytes = 128 * mebibyte;

/**
 * The number of workers: that of `--proxy-workers` or, by default, one per whole processor, limited by memory. Always
 * one if ports cannot be shared.
 */
export function workerCount(asked: number, { processors, memoryBytes, sharesPorts }: Machine): number {
  if (!sharesPorts) return 1;
  if (asked > 0) return asked;
  return Math.max(1, Math.min(Math.floor(processors), Math.floor(memoryBytes / memoryPerWorkerBytes)));
}

const minHeapMegabytes = 96;
/** More than a worker needs with a hundred thousand routes; only a bug would fill a larger heap. */
const maxHeapMegabytes = 4096;
/** The share of the memory for the heaps of workers; the rest is for buffers, stacks, code and the supervisor. */
const heapShare = 0.6;

/** The heap limit of one worker in MiB. A worker that fills its heap ends before the system kills the process. */
export const workerHeapMegabytes = (workers: number, { memoryBytes }: Machine): number =>
  Math.min(
    maxHeapMegabytes,
    Math.max(minHeapMegabytes, Math.floor((memoryBytes * heapShare) / workers / mebibyte)),
  );

/** The part of a worker's share of the memory for responses that wait for their clients. */
const responseShare = 1 / 8;

/** The memory for all responses of one worker that wait for their clients, in bytes. */
export const responseMemoryBytes = (workers: number, { memoryBytes }: Machine): number =>
  Math.floor((memoryBytes * responseShare) / workers);
