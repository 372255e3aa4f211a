import { defineAnnotation, defineFeature } from "./definition.ts";
import {
  headerModifierOf,
  headerModifierSchema,
  parseHeaderFields,
  parseHeaderNames,
  type HeaderField,
} from "./header-modifier.ts";

/** Sets, adds and removes header fields of the response to the client. See docs/features/response-headers.md. */
export const responseHeaders = defineFeature({
  slug: "response-headers",
  schema: headerModifierSchema,
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
