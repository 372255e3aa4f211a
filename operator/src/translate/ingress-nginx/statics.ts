/** The variables of a template that the controller replaces by their values. See docs/request-templates.md. */
import type { TemplateOptions } from "@svc-gateway/common/features/request-template.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { PathBackend } from "./path-backends.ts";

/** The values of `$namespace`, `$ingress_name`, `$service_name` and `$service_port` for a path of an Ingress. */
export const optionsOf = (
  { metadata }: Pick<ObjectOf<"Ingress">, "metadata">,
  { name, port }: PathBackend,
): TemplateOptions => ({
  statics: {
    namespace: metadata.namespace,
    ingress_name: metadata.name,
    service_name: name,
    service_port: port,
  },
});

/** Whether a text can have different values for the paths of an Ingress. */
export const dependsOnBackend = (text: string): boolean => /service_(?:name|port)/i.test(text);
