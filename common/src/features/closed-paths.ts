import { z } from "zod";
import { shown } from "../values/clip.ts";
import { splitLines } from "../values/list.ts";
import { compileRegex } from "../values/regex.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";

/**
 * A closed path, compared with the request's path and with its decoded form: the whole text, its beginning, or a
 * regular expression (RE2) that matches anywhere in it.
 */
const closedPathSchema = z.object({ type: z.enum(["exact", "beginning", "regex"]), value: z.string() });

/** The closed paths of a route. See docs/features/closed-paths.md. */
export const closedPathsSchema = z.object({
  paths: z.array(closedPathSchema).readonly(),
  statusCode: z.union([z.literal(403), z.literal(503)]),
});

export type ClosedPath = Readonly<z.infer<typeof closedPathSchema>>;
export type ClosedPaths = Readonly<z.infer<typeof closedPathsSchema>>;

/** The maximum number of paths in one annotation. */
const maxPaths = 64;

const expected = 'a path that begins with "/", "= /path" or "~ regex" on each line';

function parseClosedPaths(text: string): Result<ClosedPaths> {
  const paths: ClosedPath[] = [];
  for (const line of splitLines(text)) {
    const path = parseClosedPath(line);
    if (!path.ok) return path;
    paths.push(path.value);
  }
  if (paths.length > maxPaths) return problem(`there are ${paths.length} paths`, `at most ${maxPaths}`);
  return paths.length === 0 ? problem("the list is empty", expected) : ok({ paths, statusCode: 403 });
}

// oxlint-disable-next-line no-control-regex
const unusable = /[\s\x00-\x1f\x7f?#]/;

function parseClosedPath(line: string): Result<ClosedPath> {
  const [, mark = "", value = ""] = /^([=~]?)\s*(.*)$/.exec(line) ?? [];
  if (mark === "~") {
    const compiled = compileRegex(value, { whole: false });
    return value !== "" && compiled.ok
      ? ok({ type: "regex", value })
      : problem(`"${shown(value)}" is not a regular expression`, expected);
  }
  if (!value.startsWith("/") || unusable.test(value))
    return problem(`"${shown(line)}" is not a path`, expected);
  return ok({ type: mark === "=" ? "exact" : "beginning", value });
}

/** The value for an unreadable annotation, which closes all paths because it was meant to close some. */
const everything: ClosedPaths = { paths: [{ type: "beginning", value: "/" }], statusCode: 403 };

export const closedPaths = defineFeature({
  slug: "closed-paths",
  schema: closedPathsSchema,
  closing: everything,
  annotations: {
    paths: defineAnnotation({
      name: "closed-paths",
      type: "newline-list",
      builtIn: "none",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "deny",
      ifInvalid: everything,
      restricts: true,
      fallback: "every request is answered 403",
      doc: "Paths that are answered 403, one per line: `/path` with everything that begins so, `= /path` alone, `~ regex`.",
      parse: parseClosedPaths,
    }),
  },
  fromAnnotations: ({ paths }) => paths,
});
