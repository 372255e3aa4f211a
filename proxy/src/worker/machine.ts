import { availableParallelism, platform, totalmem } from "node:os";
import { processorLimit } from "@svc-gateway/common/linux/control-groups.ts";

/** The resources of the machine that this process may use. */
export type Machine = {
  /** Processors, fractional with a CPU limit. */
  readonly processors: number;
  readonly memoryBytes: number;
  /** Whether several sockets may listen on one port (SO_REUSEPORT), and the system divides connections among them. */
  readonly sharesPorts: boolean;
};

/** Where Node.js offers the option: macOS has one of the same name, which gives every connection to one socket. */
const sharingPlatforms: ReadonlySet<string> = new Set(["linux", "freebsd", "dragonfly", "sunos", "aix"]);

const mebibyte = 1024 * 1024;

/**
 * Reads what the container of this process may use: affinity, and the limits of its control groups, versions 1 and 2.
 */
export function readMachine(): Machine {
  const memoryLimit = process.constrainedMemory();
  return {
    processors: Math.min(availableParallelism(), processorLimit()),
    memoryBytes: memoryLimit > 0 ? Math.min(memoryLimit, totalmem()) : totalmem(),
    sharesPorts: sharingPlatforms.has(platform()),
  };
}

/** Memory that a worker needs beside its processor. */
const memoryPerWorkerBytes = 128 * mebibyte;

/** `--proxy-workers`: the configured number, or one per whole processor, limited by memory. One where ports cannot be shared. */
export function workerCount(asked: number, { processors, memoryBytes, sharesPorts }: Machine): number {
  if (!sharesPorts) return 1;
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

/** An eighth of a worker's share of the memory. */
const responseShare = 1 / 8;

/** Memory for all responses of one worker that wait for their clients, in bytes. */
export const responseMemoryBytes = (workers: number, { memoryBytes }: Machine): number =>
  Math.floor((memoryBytes * responseShare) / workers);
