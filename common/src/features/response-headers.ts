import { z } from "zod";
import { defineAnnotation, defineFeature } from "./definition.ts";
import {
  headerFieldSchema,
  headerModifierOf,
  headerModifierSchema,
  parseHeaderFields,
  parseHeaderNames,
  type HeaderField,
} from "./header-modifier.ts";

/** One text in place of another. */
const replacementSchema = z.object({ from: z.string(), to: z.string() });

export type Replacement = Readonly<z.infer<typeof replacementSchema>>;

/** Changes of the response: those of a modifier, and parts of fields that the backend has written. */
export const responseHeadersSchema = headerModifierSchema.extend({
  /** Replaces all fields of these names on responses over TLS, before the other changes. */
  setOverTls: z.array(headerFieldSchema).readonly().optional(),
  /** Another domain in cookies of the backend: the whole attribute `Domain`, compared without case and leading dot. */
  cookieDomain: replacementSchema.optional(),
  /** Another beginning of the attribute `Path` in cookies of the backend. */
  cookiePath: replacementSchema.optional(),
  /** Another beginning of the URL in `Location` and `Refresh` of the backend. */
  location: replacementSchema.optional(),
});

export type ResponseHeaders = Readonly<z.infer<typeof responseHeadersSchema>>;

/** Sets, adds and removes header fields of the response to the client. See docs/features/response-headers.md. */
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
  },
  fromAnnotations: headerModifierOf,
});
