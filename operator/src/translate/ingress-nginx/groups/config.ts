/** Settings of the ConfigMap for all routes. See docs/ingress-nginx.md, "ConfigMap". */
import type { HeaderField } from "@svc-gateway/common/features/header-modifier.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import {
  literalOf,
  parseRequestTemplate,
  type TemplateOptions,
} from "@svc-gateway/common/features/request-template.ts";
import { backendOfPath } from "../path-backends.ts";
import { optionsOf } from "../statics.ts";
import type { Group } from "./group.ts";

/** The first group, to which the features of annotations are joined. */
export const config: Group = (_, { nginx, ingress }) => {
  const { features, keys, fieldsOfPath } = nginx.config;
  return {
    features,
    ...(fieldsOfPath && {
      ofPath: (path) => fieldsWith(fieldsOfPath, optionsOf(ingress, backendOfPath(ingress, path))),
    }),
    ...((keys.disableAccessLog || keys.disableHttpAccessLog) && {
      route: (route) => ({ ...route, accessLog: false }),
    }),
  };
};

/** Sets the fields with the values of the variables. */
function fieldsWith(fields: readonly HeaderField[], options: TemplateOptions): RouteFeatures {
  const read = fields.flatMap(({ name, value }) => {
    const template = parseRequestTemplate(value, options);
    const literal = template.ok ? literalOf(template.value) : "";
    // nginx sends no field without a value.
    return template.ok && literal !== "" ? [{ name, value: template.value, literal }] : [];
  });
  const set = read.flatMap(({ name, literal }) => (literal === undefined ? [] : [{ name, value: literal }]));
  const templates = read.flatMap(({ name, value, literal }) =>
    literal === undefined ? [{ name, value }] : [],
  );
  return {
    "request-headers": { ...(set.length > 0 && { set }), ...(templates.length > 0 && { templates }) },
  };
}
