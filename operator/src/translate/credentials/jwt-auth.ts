/** Reads a JwtAuth, except for the keys of a URL. See docs/features/auth-jwt.md. */
import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import type { KeySet } from "@svc-gateway/common/ir/credentials.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { isToken } from "@svc-gateway/common/values/header-name.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { ageOf } from "../age.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { memo } from "../incremental/memo.ts";
import { quote } from "../text.ts";
import { describeUntried, describeUnusable, readKeySet } from "./key-set.ts";
import type { KeySetRef } from "./remote-key-sets.ts";

export type ReadJwtAuth = {
  readonly rules: TokenRules;
  /** The keys inline in the object, or the reference by which they are fetched. */
  readonly keys: { readonly inline: KeySet } | { readonly remote: KeySetRef };
  /** The values that are ignored or replaced, with one phrase each. */
  readonly warnings: readonly string[];
  /** The keys of the object that are not tried for every token; undefined if all are. */
  readonly untried: string | undefined;
};

const defaultRefreshMs = 5 * 60_000;
const minRefreshMs = 30_000;
const defaultSource = { name: "Authorization", prefix: "Bearer " };

/** Reads a JwtAuth. The error is the reason why no token can be checked. */
export const readJwtAuth = memo((resource: ObjectOf<"JwtAuth">): Result<ReadJwtAuth> => {
  const { spec } = resource;
  const warnings: string[] = [];
  const keySet = formatNamespacedName(resource.metadata);
  const keys = readKeys(resource, keySet, warnings);
  if (!keys.ok) return keys;
  const fromHeaders = (spec.fromHeaders ?? []).map(({ name, valuePrefix = "" }) => ({
    name,
    prefix: valuePrefix,
  }));
  const unusable = fromHeaders.find(({ name }) => !isToken(name));
  if (unusable !== undefined)
    return problem(`spec.fromHeaders names ${quote(unusable.name)}, which is not a header name`);
  const isUsable = (field: string, header: string): boolean => {
    if (mayBeIdentityHeader(header)) return true;
    warnings.push(`spec.${field}: the header ${quote(header)} cannot carry claims and is ignored`);
    return false;
  };
  const { forwardPayloadHeader: payloadHeader } = spec;
  return ok({
    keys: keys.value,
    warnings,
    untried: describeUntriedOf(keys.value),
    rules: {
      keySet,
      issuer: spec.issuer,
      audiences: [...(spec.audiences ?? [])],
      fromHeaders: fromHeaders.length > 0 ? fromHeaders : [defaultSource],
      forward: spec.forward === true,
      claimToHeaders: (spec.claimToHeaders ?? [])
        .filter(({ header }) => isUsable("claimToHeaders", header))
        .map(({ claim, header }) => ({ claim, header })),
      ...(payloadHeader !== undefined &&
        isUsable("forwardPayloadHeader", payloadHeader) && { payloadHeader }),
    },
  });
});

const describeUntriedOf = (keys: ReadJwtAuth["keys"]): string | undefined =>
  "inline" in keys && keys.inline.keys !== undefined ? describeUntried(keys.inline.keys) : undefined;

function readKeys(
  resource: ObjectOf<"JwtAuth">,
  name: string,
  warnings: string[],
): Result<ReadJwtAuth["keys"]> {
  const { remote, inline } = resource.spec.jwks ?? {};
  if ((remote === undefined) === (inline === undefined)) {
    return problem("it needs exactly one of spec.jwks.remote and spec.jwks.inline");
  }
  if (inline !== undefined) {
    const keys = readKeySet(inline.jwks);
    if (!keys.ok) return problem(`spec.jwks.inline.jwks cannot be used: ${describeProblem(keys.error)}`);
    const unusable = describeUnusable(keys.value.unusable);
    if (unusable !== undefined) warnings.push(`spec.jwks.inline.jwks: ${unusable}`);
    return ok({ inline: { keys: keys.value.keys } });
  }
  const uri = parseHttpsUrl(remote?.uri ?? "");
  if (uri === undefined) return problem("spec.jwks.remote.uri is not an https URL without credentials");
  const refreshIntervalMs = readInterval(remote?.refreshInterval, warnings);
  return ok({ remote: { name, object: refOf(resource), age: ageOf(resource), uri, refreshIntervalMs } });
}

function parseHttpsUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url.href;
}

function readInterval(text: string | undefined, warnings: string[]): number {
  if (text === undefined) return defaultRefreshMs;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.value === 0 ? defaultRefreshMs : Math.max(parsed.value, minRefreshMs);
  warnings.push(`spec.jwks.remote.refreshInterval: ${describeProblem(parsed.error)}; 5m applies`);
  return defaultRefreshMs;
}
