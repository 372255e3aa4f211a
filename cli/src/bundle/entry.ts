import { describeApiError, type ApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";

/** One file of a bundle. */
export type Entry = {
  /** The path of the file in the bundle. */
  readonly file: string;
  readonly text: string;
};

/** Something that the bundle does not contain. */
export type Gap = { readonly what: string; readonly why: string };

/** The gap for something that the API server did not return. */
export const gapOf = (what: string, error: ApiError, action: "read it" | "list them" = "read it"): Gap => ({
  what,
  why: error.status === 403 ? `this user may not ${action}` : describeApiError(error),
});
