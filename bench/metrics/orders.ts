/** The commands to the thread with backend and clients, and its answers. */

export type LoadOrder =
  | { readonly type: "fill"; readonly port: number; readonly routes: number; readonly connections: number }
  | { readonly type: "watch"; readonly port: number; readonly connections: number; readonly ms: number };

export type LoadAnswer =
  | { readonly type: "backend"; readonly port: number }
  | { readonly type: "filled" }
  /** Milliseconds from each request to its answer. */
  | { readonly type: "watched"; readonly latencies: readonly number[] };
