/** Converts a parsed manifest into a typed object, or reports its problems. Never throws, for any input. */
import { type Result, fail, ok } from "@svc-gateway/common/values/result.ts";
import type { KindName, KnownObject } from "./kinds.ts";
import { apiVersionOf, definitionOf, kindOf, kindOfGroup } from "./kinds.ts";
import { checkCoreKind } from "./validation/core.ts";
import { checkMetadata, type NameForm } from "./validation/metadata.ts";
import type { SchemaProblem } from "./validation/problem.ts";
import { createFindings, describeValue, isRecord } from "./validation/problem.ts";
import { type CheckRules, compileRules } from "./validation/rules.ts";
import { compileWalk, type Walk } from "./validation/walk.ts";

export type { SchemaProblem } from "./validation/problem.ts";

/** A valid object. Its warnings are findings that do not prevent its use, such as unknown fields, which are dropped. */
export type ValidObject = { readonly object: KnownObject; readonly warnings: readonly SchemaProblem[] };

/**
 * The reason why a manifest yields no object. With `unknown-kind`, it is well formed but of a kind that this gateway
 * does not read, so a caller may skip it. With `invalid`, the API server would reject it.
 */
export type InvalidObject =
  | { readonly reason: "unknown-kind"; readonly apiVersion: string; readonly kind: string }
  | { readonly reason: "invalid"; readonly problems: readonly SchemaProblem[] };

/**
 * Checks a parsed JSON or YAML document against the schema of its kind, as the API server would: types, required
 * fields, ranges, patterns and rules are errors, unknown fields are warnings. The object in the result is a copy
 * with defaults filled in and unknown fields dropped; it must not be mutated.
 */
export function validateObject(value: unknown): Result<ValidObject, InvalidObject> {
  if (!isRecord(value)) return invalid("", `must be an object, found ${describeValue(value)}`);
  const { apiVersion, kind, metadata, ...body } = value;
  if (typeof apiVersion !== "string" || apiVersion === "") {
    return invalid("apiVersion", `must name a group and version, found ${describeValue(apiVersion)}`);
  }
  if (typeof kind !== "string" || kind === "") {
    return invalid("kind", `must name a kind, found ${describeValue(kind)}`);
  }
  const known = kindOf(apiVersion, kind);
  return known === undefined ? refuseKind(apiVersion, kind) : validateKind(known, apiVersion, metadata, body);
}

function validateKind(
  kind: KindName,
  apiVersion: string,
  metadata: unknown,
  body: { readonly [field: string]: unknown },
): Result<ValidObject, InvalidObject> {
  const findings = createFindings();
  const checkedMetadata = checkMetadata(
    metadata,
    { namespaced: definitionOf(kind).namespaced, nameForm: nameForms[kind] ?? "subdomain" },
    findings,
  );
  const { walk, checkRules } = checksOf(kind);
  const fields = walk(body, findings) as object;
  const { errors, warnings } = findings;
  if (errors.length === 0) checkRules?.(fields, findings);
  // The walk has just established the type that the schema describes.
  const object = { apiVersion, kind, metadata: checkedMetadata, ...fields } as unknown as KnownObject;
  const complete = errors.length > 0 ? object : checkCoreKind(object, findings);
  if (errors.length > 0) return fail({ reason: "invalid", problems: errors });
  return ok({ object: complete, warnings });
}

/** The form of names, for kinds that differ from the others. */
const nameForms: { readonly [K in KindName]?: NameForm } = {
  Service: "label",
  Namespace: "label",
  ClusterTrustBundle: "signed",
};

function refuseKind(apiVersion: string, kind: string): Result<never, InvalidObject> {
  const slash = apiVersion.indexOf("/");
  const sameKind = kindOfGroup(slash === -1 ? "" : apiVersion.slice(0, slash), kind);
  if (sameKind === undefined) return fail({ reason: "unknown-kind", apiVersion, kind });
  return invalid(
    "apiVersion",
    `must be ${apiVersionOf(sameKind)} for kind ${kind}, found ${describeValue(apiVersion)}`,
  );
}

const invalid = (path: string, message: string): Result<never, InvalidObject> =>
  fail({ reason: "invalid", problems: [{ path, message }] });

type Checks = { readonly walk: Walk; readonly checkRules: CheckRules | undefined };

const compiled = new Map<KindName, Checks>();

function checksOf(kind: KindName): Checks {
  const known = compiled.get(kind);
  if (known !== undefined) return known;
  const { schema } = definitionOf(kind);
  const checks = { walk: compileWalk(schema), checkRules: compileRules(schema) };
  compiled.set(kind, checks);
  return checks;
}
