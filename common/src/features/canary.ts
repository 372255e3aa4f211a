import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { parseHeaderName, parseHeaderValue } from "../values/header-name.ts";
import { integerForm, parseInteger } from "../values/integer.ts";
import { compileRegex } from "../values/regex.ts";
import { ok, type Result } from "../values/result.ts";
import { parseCookieName } from "./backend-policy.ts";
import { defineAnnotation, defineOption } from "./definition.ts";

/** The maximum total of the weights of backends. */
export const maxCanaryTotal = 1_000_000;

const weights = { min: 0, max: maxCanaryTotal };
const totals = { min: 1, max: maxCanaryTotal };

/** The common part of annotations that select the requests for a canary, which can be set only on the canary itself. */
const ofCanary = { classDefault: false, onInvalid: "ignore" } as const;
const matches = "match `headers` of an HTTPRoute";

/** Reads a pattern for header values. Values have no control characters, so a pattern with one is a mistake. */
function parsePattern(text: string): Result<string> {
  const line = parseHeaderValue(text);
  if (!line.ok) return line;
  const compiled = compileRegex(text, { whole: false });
  return compiled.ok ? ok(text) : compiled;
}

/** Ingresses that receive a part of the requests of another Ingress. See docs/features/canary.md. */
export const canary = defineOption({
  slug: "canary",
  annotations: {
    canary: defineAnnotation({
      ...ofCanary,
      name: "canary",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "two `backendRefs` with weights",
      fallback: "the Ingress is no canary",
      doc: "Whether the Ingress takes a part of the requests of another one with the same host, path and path type, and serves nothing else.",
      parse: parseBoolean,
    }),
    weight: defineAnnotation({
      ...ofCanary,
      name: "canary-weight",
      type: "integer",
      form: integerForm(weights),
      builtIn: "0",
      gatewayApi: "`weight` of `backendRefs`",
      fallback: "the canary gets no requests by weight",
      doc: "The share of requests that a canary gets.",
      parse: (text) => parseInteger(text, weights),
    }),
    total: defineAnnotation({
      ...ofCanary,
      name: "canary-weight-total",
      type: "integer",
      form: integerForm(totals),
      builtIn: "100",
      gatewayApi: "`weight` of `backendRefs`",
      fallback: "the total is 100",
      doc: "What `canary-weight` is a share of.",
      parse: (text) => parseInteger(text, totals),
    }),
    header: defineAnnotation({
      ...ofCanary,
      name: "canary-by-header",
      type: "string",
      builtIn: "none",
      gatewayApi: matches,
      fallback: "no header decides",
      doc: "The header that decides: `always` is for the canary and `never` against it, unless a value or a pattern is set.",
      parse: parseHeaderName,
    }),
    headerValue: defineAnnotation({
      ...ofCanary,
      name: "canary-by-header-value",
      type: "string",
      builtIn: "none",
      gatewayApi: matches,
      ifInvalid: "",
      fallback: "requests with the header do not go to the canary",
      doc: "The value of that header with which requests go to the canary.",
      parse: parseHeaderValue,
    }),
    headerPattern: defineAnnotation({
      ...ofCanary,
      name: "canary-by-header-pattern",
      type: "string",
      builtIn: "none",
      gatewayApi: matches,
      ifInvalid: "",
      fallback: "requests with the header do not go to the canary",
      doc: "A regular expression (RE2) that is found in values of that header with which requests go to the canary; without `canary-by-header-value` only.",
      parse: parsePattern,
    }),
    cookie: defineAnnotation({
      ...ofCanary,
      name: "canary-by-cookie",
      type: "string",
      builtIn: "none",
      gatewayApi: "match of the header `cookie`",
      fallback: "no cookie decides",
      doc: "The cookie that decides: `always` is for the canary and `never` against it.",
      parse: parseCookieName,
    }),
  },
  handledIn: ["operator/src/translate/ingress/canaries.ts"],
});
