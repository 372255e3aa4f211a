import { z } from "zod";
import { enumForm, formProblem } from "../values/form.ts";
import { ok, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";

/**
 * With `any`, a request passes if one of address rules, password, token and authorization service admits it; if absent,
 * all of them must. See docs/features/satisfy.md.
 */
export const satisfySchema = z.literal("any");

type Word = "any" | "all";

const form = enumForm("a word", ["any", "all"]);

const parseWord = (text: string): Result<Word> => {
  const word = text.toLowerCase();
  return word === "any" || word === "all" ? ok(word) : formProblem(form, text);
};

export const satisfy = defineFeature({
  slug: "satisfy",
  schema: satisfySchema,
  annotations: {
    satisfy: defineAnnotation({
      name: "satisfy",
      type: "enum",
      form,
      builtIn: "`all`",
      gatewayApi: "none",
      classDefault: false,
      onInvalid: "ignore",
      fallback: "all checks must agree",
      doc: "Whether `all` of address rules and kinds of authentication must agree, or `any` of them is enough.",
      parse: parseWord,
    }),
  },
  fromAnnotations: (values) => (values.satisfy === "any" ? "any" : undefined),
});
