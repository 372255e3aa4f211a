/** Findings about regular expressions and groups that have no effect. See docs/features/rewrite-target.md, "Groups". */
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import {
  highestGroup,
  rewriteTarget as rewriteTargetFeature,
} from "@svc-gateway/common/features/rewrite-target.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { keyField } from "../diagnostics/define-finding.ts";
import { countGroups, groupMissing, patternIsLiteral } from "../diagnostics/routes.ts";
import { invalidAnnotationEvent } from "../events.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { pathField, type ParsedIngress } from "./parse.ts";

const rewriteKey = annotationKey(rewriteTargetFeature.annotations.rewriteTarget);

/**
 * Matches texts that are written only for a regular expression or a wildcard: `.*`, `(/|$)`, `[0-9]`, `^`,
 * `\\d`, a `*` or `$` at the end. Parentheses, `+` and `.` alone can be part of a real path.
 */
const looksLikePattern = /\.[*+?]|[[\]^|{}]|\\[dwDW.+*]|\(\?|\)[*+?$]|[*$]$/;

type Read = { readonly rewriteTarget: string | undefined };
type Found = { readonly diagnostics: readonly Diagnostic[]; readonly events: readonly DesiredEvent[] };

/**
 * Findings about paths without the groups that `rewrite-target` refers to, and about literal paths that look
 * like patterns.
 */
export function findPatternMistakes(
  ingress: ObjectOf<"Ingress">,
  parsed: ParsedIngress,
  { rewriteTarget }: Read,
): Found {
  const highest = rewriteTarget === undefined ? undefined : highestGroup(rewriteTarget);
  const diagnostics: Diagnostic[] = [];
  const reasons = new Set<string>();
  const place = { object: parsed.ref, field: keyField("metadata.annotations", rewriteKey) };
  for (const { match, written, rule, path } of parsed.paths) {
    const isLiteral = match.type !== "regex";
    const pathType = ingress.spec?.rules?.[rule]?.http?.paths[path]?.pathType;
    if (highest !== undefined) {
      const why = whyGroupIsMissing(highest, match, { written, pathType });
      if (why !== undefined && !reasons.has(why)) {
        reasons.add(why);
        diagnostics.push(groupMissing(place, `$${highest}`, why));
      }
      // The finding about the group already describes the remedy.
      if (why !== undefined) continue;
    }
    if (isLiteral && looksLikePattern.test(written)) {
      const field = `${pathField(rule, path)}.path`;
      diagnostics.push(patternIsLiteral({ object: parsed.ref, field }, written, remedyOf(written, pathType)));
    }
  }
  if (highest !== undefined && parsed.defaultBackend !== undefined) {
    diagnostics.push(
      groupMissing(
        place,
        `$${highest}`,
        "the default backend has no path, so the new path contains it literally",
      ),
    );
  }
  const ofGroups = diagnostics.filter(({ field }) => field === place.field);
  return {
    diagnostics,
    events: ofGroups.map(({ message }) => invalidAnnotationEvent(parsed.ref, `${rewriteKey}: ${message}`)),
  };
}

/**
 * The remedy for a literal path. Ingresses of other controllers end paths with `/*` to match everything below them.
 */
function remedyOf(written: string, pathType: string | undefined): string {
  const below = written.endsWith("/*") ? written.slice(0, -2) : undefined;
  return below === undefined || looksLikePattern.test(below)
    ? remedy(pathType)
    : `path ${quote(below === "" ? "/" : below)} of type Prefix matches everything below it`;
}

const remedy = (pathType: string | undefined): string =>
  pathType === "ImplementationSpecific" || pathType === undefined
    ? 'ingress.svc-labs.dev/use-regex: "true" makes it a regular expression'
    : 'pathType ImplementationSpecific with ingress.svc-labs.dev/use-regex: "true" makes it a regular expression';

type WrittenPath = { readonly written: string; readonly pathType: string | undefined };

function whyGroupIsMissing(
  highest: number,
  match: ParsedIngress["paths"][number]["match"],
  { written, pathType }: WrittenPath,
): string | undefined {
  if (match.type !== "regex") {
    const what = pathType === undefined ? "" : ` of type ${pathType}`;
    return `path ${quote(written)}${what} is not a regular expression, so the new path contains it literally; ${remedy(pathType)}`;
  }
  const regex = compileRegex(match.value, { whole: false });
  const groups = regex.ok ? regex.value.groupCount : highest;
  if (groups >= highest) return undefined;
  return `the regular expression ${quote(written)} has ${countGroups(groups)}, so it is replaced by nothing`;
}
