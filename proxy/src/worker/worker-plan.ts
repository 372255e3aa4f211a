import { descriptorLimit } from "@svc-gateway/common/linux/descriptor-limit.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { connectionLimit } from "./connection-limit.ts";
import { type Machine, responseMemoryBytes, workerCount, workerHeapMegabytes } from "./machine.ts";
import type { WorkerSettings, WorkerStart } from "./messages.ts";

/** The number of workers, and the resources that each of them may use. */
export type WorkerPlan = {
  readonly perWorker: Pick<WorkerStart, "workers" | "responseMemoryBytes">;
  readonly heapMegabytes: number;
  /** The settings with the connection limit that the machine allows. */
  readonly settings: WorkerSettings;
};

/** Divides the resources of the process among its workers; logs when the settings request more than is available. */
export function planWorkers(wanted: WorkerSettings, machine: Machine, log: Logger): WorkerPlan {
  const workers = workerCount(wanted.proxyWorkers, machine);
  if (wanted.proxyWorkers > workers) {
    log.warn(
      { workers, wanted_workers: wanted.proxyWorkers },
      "there is one worker: this system cannot share a port among several",
    );
  }
  const available = { ...machine, descriptors: descriptorLimit(), workers };
  const proxyMaxConnections = connectionLimit(wanted.proxyMaxConnections, available, log);
  return {
    perWorker: { workers, responseMemoryBytes: responseMemoryBytes(workers, machine) },
    heapMegabytes: workerHeapMegabytes(workers, machine),
    settings: { ...wanted, proxyMaxConnections },
  };
}
