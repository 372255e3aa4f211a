/** Predicts the decisions of a route's JwtAuths about a token: `explain --token`. The token is never printed. */
import { readFile } from "node:fs/promises";
import type { AuthJwt, TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import type { KeySet } from "@svc-gateway/common/ir/credentials.ts";
import { jwksKey } from "@svc-gateway/common/ir/keys.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { refusalReasons } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { createVerificationKeys } from "@svc-gateway/proxy/auth/key-set.ts";
import { tokenReply } from "@svc-gateway/proxy/auth/token-reply.ts";
import { verifyToken } from "@svc-gateway/proxy/auth/token.ts";
import { Fields } from "@svc-gateway/proxy/message/fields.ts";
import type { Answer, ExplainedToken } from "./answer.ts";
import type { ExplainedRequest } from "./request.ts";

/** Reads `--token`: the token itself, or `@` and a file that contains it. Problems never contain the token. */
export async function readToken(value: string): Promise<Result<string, Problem>> {
  let text = value;
  if (value.startsWith("@")) {
    try {
      text = await readFile(value.slice(1), "utf8");
    } catch (error) {
      return problem(`--token: ${textOf(error)}`);
    }
  }
  const token = text.trim().replace(/^Bearer +/i, "");
  return token === ""
    ? problem("--token: expected a token, or @ and the path of a file with one")
    : ok(token);
}

/** Adds a placeholder for the token to the headers from which the route reads tokens, if there are any. */
export function withPlaceholder(request: ExplainedRequest, answer: Answer): ExplainedRequest {
  const sources = rulesOf(answer).flatMap(({ fromHeaders }) => fromHeaders[0] ?? []);
  const names = new Set(sources.map(({ name }) => name.toLowerCase()));
  const headers = Fields.of(request.headers.kept((name) => !names.has(name.toLowerCase())));
  for (const { name, prefix } of new Map(sources.map((one) => [one.name.toLowerCase(), one])).values()) {
    headers.append(name, `${prefix}<token>`);
  }
  return { ...request, headers };
}

/** Adds the decisions of the route's JwtAuths about the token to an answer. */
export async function decideToken(
  answer: Answer,
  token: string,
  { scopes }: Translation,
  nowMs: number,
): Promise<Answer> {
  const decisions: ExplainedToken[] = [];
  for (const rules of rulesOf(answer)) {
    const resource = scopes.shared.find(({ key }) => key === jwksKey(rules.keySet));
    const decoded = resource && decodeResource(resource);
    const keySet =
      decoded?.ok === true && decoded.value?.type === "jwks" ? decoded.value.value : { keys: [] };
    decisions.push(await decide(rules, keySet, token, nowMs));
  }
  return withDecisions(answer, decisions);
}

function rulesOf({ route }: Answer): readonly TokenRules[] {
  const settings = route?.filters.find(({ name }) => name === "auth-jwt")?.settings as AuthJwt | undefined;
  return settings?.flatMap(({ rules }) => rules ?? []) ?? [];
}

async function decide(
  rules: TokenRules,
  keySet: KeySet,
  token: string,
  nowMs: number,
): Promise<ExplainedToken> {
  const jwtAuth = rules.keySet;
  if (keySet.keys === undefined) {
    const why = `its keys are fetched from ${keySet.source ?? "elsewhere"} by controllers, so signature and claims are not checked here`;
    return { jwtAuth, verdict: "unknown", why };
  }
  const keys = createVerificationKeys(keySet, undefined);
  const valid =
    keys.keys.length === 0
      ? "token-keys-unavailable"
      : await verifyToken(token, keys, rules, nowMs, (check) => check());
  if (typeof valid !== "string") {
    return {
      jwtAuth,
      verdict: "accepted",
      why: `it is valid until ${new Date(valid.untilMs).toISOString()}`,
    };
  }
  return { jwtAuth, verdict: "refused", reason: valid, why: refusalReasons["auth-jwt"][valid].meaning };
}

/** Applies the decisions: the first JwtAuth that refuses the token answers; if all accept it, the request passes. */
function withDecisions(answer: Answer, token: readonly ExplainedToken[]): Answer {
  const refusal = token.find(({ reason }) => reason !== undefined)?.reason;
  // A token does not change an answer that precedes its check.
  const isAsked = answer.reply.after.includes("auth-jwt");
  if (refusal !== undefined && isAsked) {
    const after = answer.reply.after.slice(0, answer.reply.after.indexOf("auth-jwt"));
    return {
      ...answer,
      token,
      reply: { by: "auth-jwt", status: tokenReply(refusal).status, after },
      upstream: [],
    };
  }
  const isKnown = token.length > 0 && token.every(({ verdict }) => verdict === "accepted");
  const { reply } = answer;
  return {
    ...answer,
    token,
    reply: isKnown ? { ...reply, after: reply.after.filter((slug) => slug !== "auth-jwt") } : reply,
  };
}

/** The lines of the text form. */
export const describeToken = ({ token, route }: Answer): readonly string[] => {
  if (token === undefined) return [];
  if (token.length === 0) {
    const isAsked = route?.filters.some(({ name }) => name === "auth-jwt") === true;
    return [
      `not looked at: ${isAsked ? "the route has a JwtAuth that cannot be used" : "no JwtAuth of the route takes one"}`,
    ];
  }
  return token.map(({ jwtAuth, verdict, reason, why }) =>
    reason === undefined
      ? `${verdict === "accepted" ? "accepted" : "not decided"} by JwtAuth ${jwtAuth}: ${why}`
      : `refused by JwtAuth ${jwtAuth} (${reason}): ${why}`,
  );
};
