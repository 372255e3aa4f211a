/** Bounds of the values of Secrets. See docs/controller.md, "Memory". */
import { Buffer } from "node:buffer";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "./kinds.ts";

/** The longest certificate chain, key, bundle of authorities or list of users that is read from a Secret. */
export const maxSecretValueBytes = 256 * 1024;

/** Is held in the place of a value that is longer: `(too large)` in base64. */
export const tooLargeSecretValue = "KHRvbyBsYXJnZSk=";

/** A value of a Secret, decoded; undefined when there is none. The problem is one that is too long. */
export function readSecretValue(
  { data }: Pick<ObjectOf<"Secret">, "data">,
  key: string,
): Result<Buffer | undefined> {
  const encoded = data?.[key];
  if (encoded === undefined) return ok(undefined);
  // Three bytes are four characters.
  if (encoded === tooLargeSecretValue || encoded.length > Math.ceil(maxSecretValueBytes / 3) * 4) {
    return problem(`${key} is larger than ${maxSecretValueBytes / 1024} KiB`);
  }
  return ok(Buffer.from(encoded, "base64"));
}
