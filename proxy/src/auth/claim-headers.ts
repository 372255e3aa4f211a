import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import type { HeaderList } from "../message/message.ts";
import type { ValidToken } from "./token.ts";

/**
 * The headers that tell the upstream about a valid token. A claim that is no text, number or boolean, or that would not be
 * a header value (control characters, which could end a field and begin another), is left out.
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

/** Text outside ASCII goes as the bytes of its UTF-8 form, one character each. */
function headerValue(claim: unknown): string | undefined {
  if (typeof claim !== "string" && typeof claim !== "number" && typeof claim !== "boolean") return undefined;
  const value = Buffer.from(String(claim), "utf8").toString("latin1").trim();
  return isHeaderValue(value) ? value : undefined;
}
