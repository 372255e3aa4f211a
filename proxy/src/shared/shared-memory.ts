import { connectionGateBytes, releaseConnections } from "../listeners/connection-gate.ts";
import { breakerTableBytes } from "../upstream/breaker/breaker-table.ts";
import { heartbeatBytes } from "../worker/hang-watch.ts";
import { createLogRing } from "../worker/log-ring.ts";
import { createConcurrencyMemory, releaseConcurrency, type ConcurrencyMemory } from "./concurrency-table.ts";
import { createShareMemory, type ShareMemory } from "./share-memory.ts";

/** All memory that the workers of a proxy share; created by the supervisor and passed to each worker when it starts. */
export type SharedMemory = {
  /** The counts of rate limits, see share-table.ts. */
  readonly rates: ShareMemory;
  /** The number of requests in progress of each client, see concurrency-table.ts. */
  readonly concurrency: ConcurrencyMemory;
  /** The circuit breakers, see upstream/breaker/breaker-table.ts. */
  readonly breakers: SharedArrayBuffer;
  /** The number of open client connections per worker and listener port, see listeners/connection-gate.ts. */
  readonly connections: SharedArrayBuffer;
  /** One ring per worker: log lines on their way to the supervisor, see worker/log-ring.ts. */
  readonly logs: readonly SharedArrayBuffer[];
  /** One ring per worker: spans on their way to the collector; empty without tracing. */
  readonly spans: readonly SharedArrayBuffer[];
  /** The heartbeats of the workers, see worker/hang-watch.ts. */
  readonly heartbeats: SharedArrayBuffer;
};

/** The number of shares for the clients of rate limits: 16 MiB, of which the system allocates only used pages. */
const rateShares = 1_024;

export const createSharedMemory = (workers: number, isTraced = false): SharedMemory => ({
  rates: createShareMemory(rateShares),
  concurrency: createConcurrencyMemory(workers),
  breakers: new SharedArrayBuffer(breakerTableBytes),
  connections: new SharedArrayBuffer(connectionGateBytes(workers)),
  logs: Array.from({ length: workers }, () => createLogRing()),
  spans: isTraced ? Array.from({ length: workers }, () => createLogRing()) : [],
  heartbeats: new SharedArrayBuffer(heartbeatBytes(workers)),
});

/** Releases the connections and requests of a worker that has ended. */
export function releaseWorker({ connections, concurrency }: SharedMemory, worker: number): void {
  releaseConnections(connections, worker);
  releaseConcurrency(concurrency, worker);
}
