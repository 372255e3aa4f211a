import type { AuthStore } from "../auth/auth-store.ts";
import type { RateStore } from "./rate-store.ts";

/** What filters of a worker are connected to; the same for all routes. */
export type FilterEnvironment = {
  readonly auth: Pick<AuthStore, "users">;
  /** The counts of the whole proxy, which outlive the filters. */
  readonly rates: RateStore;
};
