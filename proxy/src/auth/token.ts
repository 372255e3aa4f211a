import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from "jose";
import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import type { RefusalCode, refusalReasons } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { maxTriedKeys } from "@svc-gateway/common/ir/verification-key.ts";
import type { VerificationKey, VerificationKeys } from "./key-set.ts";

/** The accepted algorithms: asymmetric ones only, so that a public key is never used as a shared secret. */
const algorithms: ReadonlySet<unknown> = new Set([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA"],
]);

const skewSeconds = 60;
/** The maximum length of a token, in characters, which is shorter than the limit for a header. */
const maxLength = 32_768;
const form = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The claims of a valid token, and the period in which it is accepted (milliseconds since 1970). */
export type ValidToken = {
  readonly claims: JWTPayload;
  readonly payload: string;
  readonly fromMs: number;
  readonly untilMs: number;
};

/** Runs the check of one signature when its turn comes; resolves to `busy` when the check was not made. */
export type SignatureTurn = <T>(check: () => Promise<T>) => Promise<T | "busy">;

/** The reason why a token is refused; docs/reference/refusals.md describes each. */
export type TokenDefect = Extract<RefusalCode, keyof (typeof refusalReasons)["auth-jwt"]>;

/** Verifies a compact JWS (RFC 7519). Resolves to `token-checks-busy` if its signature could not be checked. */
export async function verifyToken(
  token: string,
  keySet: VerificationKeys,
  rules: Pick<TokenRules, "issuer" | "audiences">,
  nowMs: number,
  turn: SignatureTurn,
): Promise<ValidToken | TokenDefect> {
  if (token.length > maxLength || !form.test(token)) return "token-malformed";
  const keys = candidates(token, keySet);
  if (typeof keys === "string") return keys;
  for (const { alg, key } of keys) {
    const verdict = await turn(() => verifyWith(token, alg, key, rules, nowMs));
    if (verdict === "busy") return "token-checks-busy";
    if (verdict !== "token-signature") return verdict;
  }
  return "token-signature";
}

/**
 * Verifies a token with one key. After `token-signature`, another key can match; other defects are independent of it.
 */
async function verifyWith(
  token: string,
  alg: string,
  key: VerificationKey["key"],
  rules: Pick<TokenRules, "issuer" | "audiences">,
  nowMs: number,
): Promise<ValidToken | TokenDefect> {
  try {
    const { payload: claims } = await jwtVerify(token, key, {
      algorithms: [alg],
      issuer: rules.issuer,
      ...(rules.audiences.length > 0 && { audience: [...rules.audiences] }),
      requiredClaims: ["exp"],
      clockTolerance: skewSeconds,
      currentDate: new Date(nowMs),
    });
    const untilMs = ((claims.exp ?? 0) + skewSeconds) * 1000;
    const fromMs = ((claims.nbf ?? 0) - skewSeconds) * 1000;
    return { claims, payload: token.split(".", 2)[1] ?? "", fromMs, untilMs };
  } catch (error) {
    return defectOf(error);
  }
}

/**
 * Maps an error of the verification. The signature is checked first: only the owner of a token learns about its claims.
 */
function defectOf(error: unknown): TokenDefect {
  if (error instanceof errors.JWSSignatureVerificationFailed) return "token-signature";
  if (error instanceof errors.JWTExpired) return "token-expired";
  if (!(error instanceof errors.JWTClaimValidationFailed)) return "token-malformed";
  const { claim, reason } = error;
  if (claim === "iss") return "token-issuer";
  if (claim === "aud") return "token-audience";
  return claim === "nbf" && reason === "check_failed" ? "token-not-yet-valid" : "token-claims";
}

/**
 * The keys that can have signed the token: those with its algorithm and, if it has a `kid`, with that `kid`. Keys
 * without a `kid` come first, because the signer of a token without `kid` most likely has none for its key.
 */
function candidates(token: string, { keys }: VerificationKeys): readonly VerificationKey[] | TokenDefect {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (!algorithms.has(alg)) return "token-algorithm";
    const fitting = keys.filter((key) => key.alg === alg && (kid === undefined || key.kid === kid));
    return fitting.length === 0 ? "token-key" : fitting.slice(0, maxTriedKeys);
  } catch {
    return "token-malformed";
  }
}
