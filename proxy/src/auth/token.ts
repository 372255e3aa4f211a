import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from "jose";
import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import type { RefusalCode, refusalReasons } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { maxTriedKeys } from "@svc-gateway/common/ir/verification-key.ts";
import type { VerificationKey, VerificationKeys } from "./key-set.ts";

/** Every algorithm that a key can be used with: asymmetric ones only, so that a public key is never taken for a secret. */
const algorithms: ReadonlySet<unknown> = new Set([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA"],
]);

const skewSeconds = 60;
/** Tokens are shorter than a request header can be. */
const maxLength = 32_768;
const form = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The claims of a valid token, and from when until when it is accepted (milliseconds since 1970). */
export type ValidToken = {
  readonly claims: JWTPayload;
  readonly payload: string;
  readonly fromMs: number;
  readonly untilMs: number;
};

/** Checks one signature when its turn comes; `busy` when there was no place to wait. */
export type SignatureTurn = <T>(check: () => Promise<T>) => Promise<T | "busy">;

/** What is wrong with a token; docs/reference/refusals.md has the meanings. */
export type TokenDefect = Extract<RefusalCode, keyof (typeof refusalReasons)["auth-jwt"]>;

/** Verifies a compact JWS (RFC 7519). `token-checks-busy`: its signature could not be checked. */
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

/** `token-signature`: another key may have made it. All other defects do not depend on the key. */
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

/** The signature is checked before the claims, so what is said about claims is said to their owner only. */
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
 * The keys that may have signed the token: those of its `kid`, or all when it has none, and of its algorithm only. Keys
 * without a `kid` come first, since the signer of a token without `kid` most likely has none for its key.
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
