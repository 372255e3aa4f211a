import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { Counter } from "@svc-gateway/common/telemetry/metric-family.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import type { Observer } from "../exchange/observer.ts";
import type { UpstreamClient } from "../upstream/upstream.ts";
import type { ActiveExchanges } from "./active-exchanges.ts";
import type { GapSweep } from "./gap-sweep.ts";
import type { Mirrors } from "./mirrors.ts";
import type { RequestIds } from "./request-ids.ts";
import type { ResponseMemory } from "./response-memory.ts";

/** The dependencies of the pipeline; one set per worker. */
export type PipelineDependencies = {
  readonly client: UpstreamClient;
  /** How requests are logged and traced unless their class or listener sets something else. */
  readonly observer: Observer;
  /** Assigns ids to requests; undefined if request ids are disabled. */
  readonly requestIds?: RequestIds | undefined;
  readonly metrics: ProxyMetrics;
  /** The two series of `svc_proxy_upstream_connections_total`, looked up once. */
  readonly upstreamConnections: { readonly [State in "new" | "reused"]: Counter };
  readonly active: ActiveExchanges;
  /** Checks the gaps of attempts on routes that limit them. */
  readonly gapSweep: GapSweep;
  readonly mirrors: Mirrors;
  readonly log: Logger;
  /** Whether upstream requests get a Via field. */
  readonly via: boolean;
  /** The most bytes of a request body that are kept for a retry. */
  readonly retryBufferBytes: number;
  /** Counts the bytes that upgraded connections hold for their clients. */
  readonly responseMemory: ResponseMemory;
};
