/** Response headers of a ConfigMap. See docs/ingress-nginx.md. */
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { quote } from "../../text.ts";
import { customHeaders } from "../annotations/responses.ts";
import { readConfigMapFields } from "../config-map-fields.ts";
import { referenceForm } from "../values.ts";
import type { Group } from "./group.ts";

export const customHeadersGroup: Group = (read, context) => {
  const text = read(customHeaders);
  if (text === undefined) return {};
  const reference = referenceForm({ optionalNamespace: false }).parse(text);
  const fields = reference.ok ? readConfigMapFields(reference.value, context) : reference;
  if (!fields.ok) return (context.close(customHeaders, describeProblem(fields.error)), {});
  const allowed = context.nginx.config.keys.globalAllowedResponseHeaders;
  const other = fields.value.find(({ name }) => !allowed.includes(name.toLowerCase()));
  if (other !== undefined) {
    const list =
      allowed.length === 0
        ? "which is empty without the key global-allowed-response-headers of the ConfigMap"
        : `${allowed.join(", ")} (global-allowed-response-headers)`;
    context.close(
      customHeaders,
      `the header ${quote(other.name)} is not in the list of allowed ones, ${list}`,
    );
    return {};
  }
  return fields.value.length === 0 ? {} : { features: { "response-headers": { set: fields.value } } };
};
