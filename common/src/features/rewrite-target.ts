import { shown } from "../values/clip.ts";
import { z } from "zod";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";
import { isPathText, pathModifierSchema } from "./path-modifier.ts";

/**
 * A text in which `$1`, `$2` and so on are replaced by the groups of the leftmost match of a regular expression in the
 * request's path. `expand`: the text is the new path; a missing slash is added before it. `replace`: the text replaces
 * the match, and without a match nothing changes.
 */
const expandedPathSchema = z.object({
  type: z.enum(["expand", "replace"]),
  value: z.string(),
  /** RE2 syntax, unanchored. */
  pattern: z.string(),
  /**
   * With `decoded`, the decoded path is matched (HostRoutes, `matchPaths`), and the contents of groups are encoded
   * again. If absent, the canonical path is matched, and groups are used unchanged.
   */
  matchPath: z.literal("decoded").optional(),
});

/** Changes of path and host of the upstream request. See docs/features/rewrite-target.md. */
export const rewriteTargetSchema = z.object({
  path: z.discriminatedUnion("type", [pathModifierSchema, expandedPathSchema]).optional(),
  hostname: z.string().optional(),
  /** The value of X-Forwarded-Prefix on the upstream request, in which groups are replaced as in the path. */
  forwardedPrefix: z.string().optional(),
});

export type RewriteTarget = Readonly<z.infer<typeof rewriteTargetSchema>>;
export type ExpandedPath = Readonly<z.infer<typeof expandedPathSchema>>;

/**
 * A reference to a group: a dollar sign and the group's number without leading zeros, in braces if a digit follows it.
 */
const groupReference = /\$(?:([1-9][0-9]*)|\{([1-9][0-9]*)\})/;

/** Whether a text refers to a group. */
export const hasGroupReference = (text: string): boolean => groupReference.test(text);

/** The parts of a text with references: pieces of text, and the numbers of groups. */
export const splitAtGroups = (text: string): readonly (string | number)[] =>
  text.split(groupReference).flatMap((part: string | undefined, index) => {
    if (part === undefined || part === "") return [];
    return index % 3 === 0 ? part : Number(part);
  });

/** Reads the new path (RFC 3986 section 3.3), to which a missing leading slash is added on the wire. */
export function parseRewriteTarget(text: string): Result<string> {
  return isPathText(text)
    ? ok(text)
    : problem(
        `${JSON.stringify(shown(text))} is not a path`,
        'a path such as "/app", without query, other characters percent-encoded',
      );
}

export const rewriteTarget = defineFeature({
  slug: "rewrite-target",
  schema: rewriteTargetSchema,
  annotations: {
    rewriteTarget: defineAnnotation({
      name: "rewrite-target",
      type: "string",
      builtIn: "the request's path",
      gatewayApi: "`URLRewrite` `path`, `ExtensionRef` to PathRewriteRegex",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the path is forwarded as it is",
      doc: "Path of the upstream request instead of the client's; the query is kept. `$1` to `$n` are the groups of a regular expression path.",
      parse: parseRewriteTarget,
    }),
  },
  fromAnnotations: ({ rewriteTarget: value }): RewriteTarget | undefined =>
    value === undefined
      ? undefined
      : { path: { type: "full", value: value.startsWith("/") ? value : `/${value}` } },
});

/** The highest group to which a new path refers; undefined if it refers to none. */
export function highestGroup(value: string): number | undefined {
  const numbers = [...value.matchAll(new RegExp(groupReference, "g"))].map(([, digits]) => Number(digits));
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}
