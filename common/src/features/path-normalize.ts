import { z } from "zod";
import { enumForm, formProblem } from "../values/form.ts";
import { ok, type Result } from "../values/result.ts";
import { defineAnnotation, defineOption, type Warn } from "./definition.ts";

/** The level of path normalisation; each level includes the previous ones. See docs/features/path-normalize.md. */
export const pathLevelSchema = z.enum(["base", "merge-slashes", "decode-and-merge-slashes"]);

export type PathLevel = z.infer<typeof pathLevelSchema>;

const levels = pathLevelSchema.options;
/** The value by which older releases disabled normalisation. */
const formerLevel = "none";

const levelForm = enumForm("a level", levels, { former: [formerLevel] });

function parsePathLevel(text: string, warn: Warn): Result<PathLevel> {
  const word = text.toLowerCase();
  if (word === formerLevel) {
    warn(
      `"${formerLevel}" is no longer a level, because paths are always normalised; the level is base`,
      "event",
    );
    return ok("base");
  }
  const level = levels.find((known) => known === word);
  return level === undefined ? formProblem(levelForm, text) : ok(level);
}

/**
 * The level to which the paths of a host's requests are normalised before they are matched. See
 * docs/features/path-normalize.md.
 */
export const pathNormalize = defineOption({
  slug: "path-normalize",
  annotations: {
    pathNormalize: defineAnnotation({
      name: "path-normalize",
      type: "enum",
      form: levelForm,
      builtIn: "`base`",
      gatewayApi: "none: the level is `base`",
      alsoInEvents: "the former level `none`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the level is base",
      doc: "How paths are normalised before they are matched and forwarded: `base`, `merge-slashes` or `decode-and-merge-slashes`.",
      parse: parsePathLevel,
    }),
  },
  handledIn: ["proxy/src/routing/normalise-path.ts"],
});
