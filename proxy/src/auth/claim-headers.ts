import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import type { HeaderList } from "../message/message.ts";
import type { ValidToken } from "./token.ts";

/**
 * The headers that pass the claims of a valid token to the upstream. A claim is omitted if it is not a string, number
 * or boolean, or contains characters that a header value must not have, such as line breaks, which could inject a
 * field.
 */
export function claimHeaders(
  { claims, payload }: Pick<ValidToken, "claims" | "payload">,
  { claimToHeaders, payloadHeader }: Pick<TokenRules, "claimToHeaders" | "payloadHeader">,
): HeaderList {
  const headers: HeaderList = [];
  for (const { claim, header } of claimToHeaders) {
    const value = Object.hasOwn(claims, claim) ? headerValue(claims[claim]) : undefined;
    if (value !== undefined) headers.push(header, value);
  }
  if (payloadHeader !== undefined) headers.push(payloadHeader, payload);
  return headers;
}

/** The header value of a claim, with one character per byte of its UTF-8 form; undefined if it cannot be sent. */
function headerValue(claim: unknown): string | undefined {
  if (typeof claim !== "string" && typeof claim !== "number" && typeof claim !== "boolean") return undefined;
  const value = Buffer.from(String(claim), "utf8").toString("latin1").trim();
  return isHeaderValue(value) ? value : undefined;
}
