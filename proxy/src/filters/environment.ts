import type { AuthStore } from "../auth/auth-store.ts";

/** What filters of a worker are connected to; the same for all routes. */
export type FilterEnvironment = {
  readonly auth: Pick<AuthStore, "users">;
};
