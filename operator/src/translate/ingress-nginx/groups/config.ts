/** Settings of the ConfigMap for all routes. See docs/ingress-nginx.md, "ConfigMap". */
import type { HeaderField } from "@svc-gateway/common/features/header-modifier.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import {
  literalOf,
  parseRequestTemplate,
  type TemplateOptions,
} from "@svc-gateway/common/features/request-template.ts";
import { memo } from "../../incremental/memo.ts";
import { backendOfPath, type PathBackend } from "../path-backends.ts";
import { textOfWireForm } from "../config-map-fields.ts";
import { dependsOnBackend, optionsOf } from "../statics.ts";
import type { Group, GroupContext, NginxPath } from "./group.ts";

/** The first group, to which the features of annotations are joined. */
export const config: Group = (_, { nginx, ingress }) => {
  const { features, keys, fieldsOfPath } = nginx.config;
  return {
    features,
    ...(fieldsOfPath && { ofPath: fieldsBy(ingress, fieldsOfPath) }),
    ...((keys.disableAccessLog || keys.disableHttpAccessLog) && {
      route: (route) => ({ ...route, accessLog: false }),
    }),
  };
};

/** Returns a function that finds the fields of a path, by its backend if their values depend on it. */
function fieldsBy(
  ingress: GroupContext["ingress"],
  fields: readonly HeaderField[],
): (path: NginxPath) => RouteFeatures {
  if (!fields.some(({ value }) => dependsOnBackend(value))) {
    const same = fieldsWith(fields, optionsOf(ingress, { name: "", port: "" }));
    return () => same;
  }
  const byBackend = memo((backend: PathBackend) => fieldsWith(fields, optionsOf(ingress, backend)));
  return (path) => byBackend(backendOfPath(ingress, path));
}

/** Sets the fields with the values of the variables. */
function fieldsWith(fields: readonly HeaderField[], options: TemplateOptions): RouteFeatures {
  const read = fields.flatMap(({ name, value }) => {
    const template = parseRequestTemplate(textOfWireForm(value), options);
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
