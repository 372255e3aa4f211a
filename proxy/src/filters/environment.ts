import type { AuthStore } from "../auth/auth-store.ts";
import type { EncoderSlots } from "./encoder-slots.ts";
import type { RateStore } from "./rate-store.ts";
import type { ConcurrencyTable } from "../shared/concurrency-table.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** What the filters of a worker depend on; the same for all routes. */
export type FilterEnvironment = {
  readonly auth: Omit<AuthStore, "update" | "close">;
  /** The counts of the whole proxy, which outlive the filters. */
  readonly rates: RateStore;
  /** What clients have in progress, in the whole proxy. */
  readonly concurrency: Pick<ConcurrencyTable, "enter" | "leave">;
  /** The upstream of an endpoint set as it is now; asked once per request. */
  readonly upstreamOf: (endpoints: string, protocol: Upstream["protocol"]) => () => Upstream;
  /** The bound on compressed responses. */
  readonly encoders: EncoderSlots;
};
