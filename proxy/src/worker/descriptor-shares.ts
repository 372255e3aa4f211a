/** What the file descriptors of a proxy are used for, over all its workers. */
export type DescriptorShares = {
  /** Connections of clients, each of which may need another descriptor for a backend. */
  readonly connections: number;
  /** Sessions of UDP clients: their sockets to backends. */
  readonly udpSessions: number;
  /** Connections to backends that wait for a request. */
  readonly idleUpstreams: number;
};

/**
 * Descriptors that a process has open before it serves, or opens beside its traffic: event loops, pipes and shared memory (25
 * were counted), files and logs, name servers, streams of controllers and collectors, admin and health ports with their clients.
 */
const ofProcess = 48;
/** Those of a worker thread (7 were counted) and its first listener. */
const ofWorker = 8;

/**
 * Divides the descriptors that a process may open (docs/features/listeners.md, "File descriptors"). With any clients,
 * a quarter of what the process does not need for itself is left for connections to backends, health checks and listeners.
 */
export function descriptorShares(descriptors: number, workers: number): DescriptorShares {
  const free = Math.max(0, descriptors - ofProcess - ofWorker * workers);
  return {
    connections: Math.max(1, Math.floor(free / 2)),
    udpSessions: Math.floor(free / 4),
    idleUpstreams: Math.floor(free / 4),
  };
}
