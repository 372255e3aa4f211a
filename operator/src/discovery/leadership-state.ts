/** Whether this replica holds the lease. */
export type LeadershipState = {
  isLeading(): boolean;
  /** Calls back after each change; the returned function ends that. */
  subscribe(listener: () => void): () => void;
};
