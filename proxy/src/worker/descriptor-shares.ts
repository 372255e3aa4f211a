/** The numbers of file descriptors of a proxy for each purpose, over all its workers. */
export type DescriptorShares = {
  /** Connections of clients, each of which can need another descriptor for a backend. */
  readonly connections: number;
  /** Sockets to backends for the sessions of UDP clients. */
  readonly udpSessions: number;
  /** Connections to backends that wait for a request. */
  readonly idleUpstreams: number;
};

/**
 * The number of descriptors that a process opens for purposes other than traffic: event loops, pipes and shared memory
 * (25 in a measurement), files and logs, name servers, streams of controllers and collectors, admin and health ports
 * and their clients.
 */
const ofProcess = 48;
/** The number of descriptors of a worker thread (7 in a measurement) and its first listener. */
const ofWorker = 8;

/**
 * Divides the descriptors that a process may open (docs/features/listeners.md, "File descriptors"). Even if clients
 * exhaust their shares, a quarter of what the process does not need for itself remains for connections to backends,
 * health checks and listeners.
 */
export function descriptorShares(descriptors: number, workers: number): DescriptorShares {
  const free = Math.max(0, descriptors - ofProcess - ofWorker * workers);
  return {
    connections: Math.max(1, Math.floor(free / 2)),
    udpSessions: Math.floor(free / 4),
    idleUpstreams: Math.floor(free / 4),
  };
}
