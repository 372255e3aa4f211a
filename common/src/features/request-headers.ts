import { defineAnnotation, defineFeature } from "./definition.ts";
import {
  headerModifierOf,
  headerModifierSchema,
  parseHeaderFieldsToAdd,
  parseHeaderFieldsToSet,
  parseHeaderNamesToRemove,
  type HeaderField,
} from "./header-modifier.ts";

/** Sets, adds and removes header fields of the upstream request. See docs/features/request-headers.md. */
export const requestHeaders = defineFeature({
  slug: "request-headers",
  schema: headerModifierSchema,
  annotations: {
    set: defineAnnotation<readonly HeaderField[] | "invalid">({
      name: "request-header-set",
      type: "newline-list",
      builtIn: "none",
      gatewayApi: "`RequestHeaderModifier` `set`",
      classDefault: true,
      onInvalid: "ignore",
      ifInvalid: "invalid",
      fallback: "no request-header-* annotation of the Ingress applies",
      doc: "Fields to set on the upstream request, one `Name: Value` per line; fields of that name are replaced.",
      parse: parseHeaderFieldsToSet,
    }),
    add: defineAnnotation<readonly HeaderField[] | "invalid">({
      name: "request-header-add",
      type: "newline-list",
      builtIn: "none",
      gatewayApi: "`RequestHeaderModifier` `add`",
      classDefault: true,
      onInvalid: "ignore",
      ifInvalid: "invalid",
      fallback: "no request-header-* annotation of the Ingress applies",
      doc: "Fields to append on the upstream request, one `Name: Value` per line.",
      parse: parseHeaderFieldsToAdd,
    }),
    remove: defineAnnotation({
      name: "request-header-remove",
      type: "csv",
      builtIn: "none",
      gatewayApi: "`RequestHeaderModifier` `remove`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "no fields are removed",
      doc: "Names of fields to remove from the upstream request.",
      parse: parseHeaderNamesToRemove,
    }),
  },
  fromAnnotations: headerModifierOf,
});
