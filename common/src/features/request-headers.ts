import { z } from "zod";
import { defineAnnotation, defineFeature } from "./definition.ts";
import {
  headerModifierOf,
  headerModifierSchema,
  parseHeaderFieldsToAdd,
  parseHeaderFieldsToSet,
  parseHeaderNamesToRemove,
  type HeaderField,
} from "./header-modifier.ts";
import { requestTemplateSchema } from "./request-template.ts";

/** Changes of the upstream request: those of a modifier, and fields with values that are computed for each request. */
export const requestHeadersSchema = headerModifierSchema.extend({
  /**
   * Fields that are set after the others, in this order. A field with an empty value is removed. A Host whose value is
   * empty leaves the present one unchanged (docs/request-templates.md).
   */
  templates: z
    .array(z.object({ name: z.string(), value: requestTemplateSchema }))
    .readonly()
    .optional(),
});

export type RequestHeaders = Readonly<z.infer<typeof requestHeadersSchema>>;

/** Sets, adds and removes header fields of the upstream request. See docs/features/request-headers.md. */
export const requestHeaders = defineFeature({
  slug: "request-headers",
  schema: requestHeadersSchema,
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
