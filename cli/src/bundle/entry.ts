import { describeApiError, type ApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";

/** One file of a bundle. */
export type Entry = {
  /** Its path in the bundle. */
  readonly file: string;
  readonly text: string;
};

/** Something that is not in the bundle. */
export type Gap = { readonly what: string; readonly why: string };

/** What the API server did not give, and why. */
export const gapOf = (what: string, error: ApiError, action: "read it" | "list them" = "read it"): Gap => ({
  what,
  why: error.status === 403 ? `this user may not ${action}` : describeApiError(error),
});
