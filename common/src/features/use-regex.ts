import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { defineAnnotation, defineOption } from "./definition.ts";

/** Whether paths of the type `ImplementationSpecific` are regular expressions. See docs/features/use-regex.md. */
export const useRegex = defineOption({
  slug: "use-regex",
  annotations: {
    useRegex: defineAnnotation({
      name: "use-regex",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "path match `RegularExpression`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "paths are prefixes",
      doc: "Whether `ImplementationSpecific` paths are regular expressions.",
      parse: parseBoolean,
    }),
  },
  handledIn: ["operator/src/translate/ingress/path.ts"],
});
