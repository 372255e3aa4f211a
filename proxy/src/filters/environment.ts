import type { AuthStore } from "../auth/auth-store.ts";
import type { EncoderSlots } from "./encoder-slots.ts";
import type { RateStore } from "./rate-store.ts";
import type { ConcurrencyTable } from "../shared/concurrency-table.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** The dependencies of the filters of a worker, shared by all routes. */
export type FilterEnvironment = {
  readonly auth: Omit<AuthStore, "update" | "close">;
  /** The request counts of the whole proxy, which outlive the filters. */
  readonly rates: RateStore;
  /** The number of requests in progress of each client, in the whole proxy. */
  readonly concurrency: Pick<ConcurrencyTable, "enter" | "leave">;
  /** Returns a getter of the current upstream of an endpoint set, which is called once per request. */
  readonly upstreamOf: (endpoints: string, protocol: Upstream["protocol"]) => () => Upstream;
  /** The bound on responses that are compressed at the same time. */
  readonly encoders: EncoderSlots;
};
