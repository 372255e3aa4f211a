import type { IdlePool } from "./idle-pool.ts";
import type { OwnPortGuard } from "./own-port-guard.ts";
import type { Resolver } from "./resolver.ts";

/** What the clients of all protocols share; one per worker. */
export type UpstreamClientOptions = {
  /** Limit of a connect, name resolution included, in milliseconds; 0 = none. */
  readonly connectTimeoutMs: number;
  readonly idlePool: IdlePool;
  readonly resolver: Resolver;
  /** What must not be connected to; nothing unless given. */
  readonly ownPorts?: Pick<OwnPortGuard, "refuses"> | undefined;
};
