import { z } from "zod";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";
import { isPathText, pathModifierSchema, type PathModifier } from "./path-modifier.ts";

/** How the path changes on its way to the upstream. See docs/features/rewrite-target.md. */
export const rewriteTargetSchema = z.object({ path: pathModifierSchema });

export type RewriteTarget = Readonly<z.infer<typeof rewriteTargetSchema>>;

/** Reads the new path, as it goes onto the wire (RFC 3986 section 3.3). A missing leading slash is added. */
export function parseRewriteTarget(text: string): Result<PathModifier> {
  return isPathText(text)
    ? ok({ type: "full", value: text.startsWith("/") ? text : `/${text}` })
    : problem(
        `${JSON.stringify(text.slice(0, 80))} is not a path`,
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
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the path is forwarded as it is",
      doc: "Path of the upstream request, instead of that of the client's; the query stays.",
      parse: parseRewriteTarget,
    }),
  },
});
