import { refusalReasons } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { TokenDefect } from "./token.ts";

/**
 * The reply to a request without a valid token. The challenge has the error code of RFC 6750 3.1: none if no token was
 * sent, `invalid_request` if the token in the field is malformed, otherwise `invalid_token`.
 */
export const tokenReply = (defect: TokenDefect): LocalReply => replies[defect];

const jwtReasons = refusalReasons["auth-jwt"];

function createReply(defect: TokenDefect): LocalReply {
  const {
    status,
    errors: [error],
  } = jwtReasons[defect];
  if (status !== 401) return { status: 503, error, reason: defect };
  return { status, headers: ["WWW-Authenticate", challengeOf(defect, error)], error, reason: defect };
}

function challengeOf(defect: TokenDefect, error: string): string {
  if (defect === "token-missing") return "Bearer";
  const code = defect === "token-syntax" ? "invalid_request" : "invalid_token";
  return `Bearer error="${code}", error_description="${error}"`;
}

/** The replies, built once so that a flood of invalid tokens does not build strings. */
const replies = Object.fromEntries(
  Object.keys(jwtReasons).map((defect) => [defect, createReply(defect as TokenDefect)]),
) as { readonly [Defect in TokenDefect]: LocalReply };
