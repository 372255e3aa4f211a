import { z } from "zod";
import { shown } from "../values/clip.ts";
import { formProblem } from "../values/form.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature, type AnnotationDefinition } from "./definition.ts";
import {
  headerFieldSchema,
  headerModifierOf,
  headerModifierSchema,
  parseHeaderFields,
  parseHeaderNames,
  type HeaderField,
} from "./header-modifier.ts";

/** A text and its replacement. */
const replacementSchema = z.object({ from: z.string(), to: z.string() });

export type Replacement = Readonly<z.infer<typeof replacementSchema>>;

/** Changes of the response: those of a modifier, and those of parts of fields that the backend has written. */
export const responseHeadersSchema = headerModifierSchema.extend({
  /** Fields that replace all fields of their names on responses over TLS, before the other changes. */
  setOverTls: z.array(headerFieldSchema).readonly().optional(),
  /**
   * The name of a field with the id of the request. It replaces fields of that name in the response, before the other
   * changes.
   */
  requestId: z.string().optional(),
  /**
   * A replacement for the domain in cookies of the backend: the whole attribute `Domain`, compared without case and
   * leading dot.
   */
  cookieDomain: replacementSchema.optional(),
  /** A replacement for the beginning of the attribute `Path` in cookies of the backend. */
  cookiePath: replacementSchema.optional(),
  /** A replacement for the beginning of the URL in `Location` and `Refresh` of the backend. */
  location: replacementSchema.optional(),
});

export type ResponseHeaders = Readonly<z.infer<typeof responseHeadersSchema>>;

/** Reads the name of one field that may be changed. */
function parseFieldName(text: string): Result<string> {
  let isRefused = false;
  const names = parseHeaderNames(text, () => (isRefused = true));
  if (!names.ok) return names;
  const [name, ...others] = names.value;
  return name === undefined || others.length > 0 || isRefused
    ? problem(`"${shown(text)}" is not one header that may be changed`, 'a name such as "X-Request-ID"')
    : ok(name);
}

/** Declares an annotation of two words in the characters of `words`: a text, and its replacement. */
function defineReplacement(given: {
  readonly name: string;
  readonly words: string;
  readonly expected: string;
  readonly replaced: string;
}): AnnotationDefinition<Replacement> {
  const { name, words, expected, replaced } = given;
  const form = { pattern: `^${words}[ \\t]+${words}$`, noun: "a replacement", expected };
  const whole = new RegExp(form.pattern);
  return defineAnnotation<Replacement>({
    name,
    type: "replacement",
    form,
    builtIn: "none",
    gatewayApi: "[RouteOptions](../gateway-api.md#routeoptions)",
    classDefault: true,
    onInvalid: "ignore",
    fallback: "nothing is replaced",
    doc: `${replaced}, and what replaces it, separated by a space.`,
    parse(text) {
      const [from = "", to = ""] = whole.test(text) ? text.split(/[ \t]+/) : [];
      return to === "" ? formProblem(form, text) : ok({ from, to });
    },
  });
}

/**
 * Sets, adds, removes and rewrites header fields of the response to the client. See docs/features/response-headers.md.
 */
export const responseHeaders = defineFeature({
  slug: "response-headers",
  schema: responseHeadersSchema,
  annotations: {
    set: defineAnnotation<readonly HeaderField[] | "invalid">({
      name: "response-header-set",
      type: "newline-list",
      builtIn: "none",
      gatewayApi: "`ResponseHeaderModifier` `set`",
      classDefault: true,
      onInvalid: "ignore",
      ifInvalid: "invalid",
      fallback: "no response-header-* annotation of the Ingress applies",
      doc: "Fields to set on the response to the client, one `Name: Value` per line; fields of that name are replaced.",
      parse: parseHeaderFields,
    }),
    add: defineAnnotation<readonly HeaderField[] | "invalid">({
      name: "response-header-add",
      type: "newline-list",
      builtIn: "none",
      gatewayApi: "`ResponseHeaderModifier` `add`",
      classDefault: true,
      onInvalid: "ignore",
      ifInvalid: "invalid",
      fallback: "no response-header-* annotation of the Ingress applies",
      doc: "Fields to append on the response to the client, one `Name: Value` per line.",
      parse: parseHeaderFields,
    }),
    remove: defineAnnotation({
      name: "response-header-remove",
      type: "csv",
      builtIn: "none",
      gatewayApi: "`ResponseHeaderModifier` `remove`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "no fields are removed",
      doc: "Names of fields to remove from the response to the client.",
      parse: parseHeaderNames,
    }),
    setOverTls: defineAnnotation({
      name: "response-header-set-tls",
      type: "newline-list",
      builtIn: "none",
      gatewayApi: "[RouteOptions](../gateway-api.md#routeoptions)",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "no fields are set because of TLS",
      doc: "Fields to set on responses over TLS only, one `Name: Value` per line, before the other changes.",
      parse: parseHeaderFields,
    }),
    requestId: defineAnnotation({
      name: "response-header-request-id",
      type: "string",
      builtIn: "none",
      gatewayApi: "[RouteOptions](../gateway-api.md#routeoptions)",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "clients do not get the id of the request",
      doc: "The name of a field in which clients get the id of the request.",
      parse: parseFieldName,
    }),
    cookieDomain: defineReplacement({
      name: "response-cookie-domain",
      words: String.raw`\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?`,
      expected: 'two domains, such as "internal.example shop.example"',
      replaced: "The `Domain` of cookies of backends",
    }),
    cookiePath: defineReplacement({
      name: "response-cookie-path",
      words: "/[!-:<-~]*",
      expected: 'two paths, such as "/app /shop"',
      replaced: "The beginning of the `Path` of cookies of backends",
    }),
    location: defineReplacement({
      name: "response-location",
      words: "[!-~]+",
      expected: 'two beginnings of URLs, such as "http://internal:8080/ https://shop.example/"',
      replaced: "The beginning of the URL in `Location` and `Refresh` of backends",
    }),
  },
  fromAnnotations({ setOverTls = [], requestId, cookieDomain, cookiePath, location, ...changes }, ofClass) {
    const value: ResponseHeaders = {
      ...headerModifierOf(changes, ofClass),
      ...(setOverTls.length > 0 && { setOverTls }),
      ...(requestId !== undefined && { requestId }),
      ...(cookieDomain && { cookieDomain }),
      ...(cookiePath && { cookiePath }),
      ...(location && { location }),
    };
    return Object.keys(value).length === 0 ? undefined : value;
  },
});
