/** Limits of the values of Secrets. See docs/controller.md, "Memory". */
import { Buffer } from "node:buffer";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "./kinds.ts";

/** The longest certificate chain, key, bundle of authorities or list of users that is read from a Secret. */
export const maxSecretValueBytes = 256 * 1024;

/** Replaces a value that is too long: `(too large)` in base64. */
export const tooLargeSecretValue = "KHRvbyBsYXJnZSk=";

/** Returns a decoded value of a Secret; undefined if there is none. Fails if the value is too long. */
export function readSecretValue(
  { data }: Pick<ObjectOf<"Secret">, "data">,
  key: string,
): Result<Buffer | undefined> {
  const encoded = data?.[key];
  if (encoded === undefined) return ok(undefined);
  // Base64 encodes three bytes as four characters.
  if (encoded === tooLargeSecretValue || encoded.length > Math.ceil(maxSecretValueBytes / 3) * 4) {
    return problem(`${key} is larger than ${maxSecretValueBytes / 1024} KiB`);
  }
  return ok(Buffer.from(encoded, "base64"));
}
