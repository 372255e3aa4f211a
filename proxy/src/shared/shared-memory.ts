import { createRateMemory } from "../filters/rate-store.ts";
import { listenerGateBytes, releaseListenerPlaces } from "../listeners/listener-gate.ts";
import { breakerTableBytes } from "../upstream/breaker/table.ts";
import type { SharedTableMemory } from "./shared-table.ts";

/** Everything that the workers of a proxy share; made by the supervisor, handed to each worker when it starts. */
export type SharedMemory = {
  readonly rates: SharedTableMemory;
  /** The circuit breakers, see upstream/breaker/table.ts. */
  readonly breakers: SharedArrayBuffer;
  /** One counter per worker: its open client connections. */
  readonly connections: SharedArrayBuffer;
  /** The same by listener port, see listeners/listener-gate.ts. */
  readonly listenerConnections: SharedArrayBuffer;
  /** One counter per worker: bytes of log lines that are on their way to the supervisor. */
  readonly logBytes: SharedArrayBuffer;
};

/** Clients that rate limits remember. */
const maxRateKeys = 100_000;
const counterBytes = 4;

export const createSharedMemory = (workers: number): SharedMemory => ({
  rates: createRateMemory(maxRateKeys),
  breakers: new SharedArrayBuffer(breakerTableBytes),
  connections: new SharedArrayBuffer(workers * counterBytes),
  listenerConnections: new SharedArrayBuffer(listenerGateBytes(workers)),
  logBytes: new SharedArrayBuffer(workers * counterBytes),
});

/** A worker is gone, and what it held with it. */
export function releaseWorker(
  { connections, listenerConnections, logBytes }: SharedMemory,
  worker: number,
): void {
  releaseListenerPlaces(listenerConnections, worker);
  for (const buffer of [connections, logBytes]) Atomics.store(new Int32Array(buffer), worker, 0);
}
