/** The `Host` of requests to backends. See docs/features/request-headers.md. */
import {
  literalOf,
  parseRequestTemplate,
  templateVariables,
  variableText,
} from "@svc-gateway/common/features/request-template.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { quote } from "../../text.ts";
import { upstreamVhost } from "../annotations/routing.ts";
import type { Group } from "./group.ts";

const variables = new Set(["host", "http_host", "http"]);
const known = "$host, $http_host, $http_<name>, $namespace and $service_name";

const hostAndPort = /^(?:[A-Za-z0-9._~-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

export const upstreamVhostGroup: Group = (read, { namespace, ignore }) => {
  const text = read(upstreamVhost);
  if (text === undefined) return {};
  const parse = (service: string) =>
    parseRequestTemplate(text, { statics: { namespace, service_name: service } });
  const sample = parse("service");
  if (!sample.ok) return (ignore(upstreamVhost, describeProblem(sample.error)), {});
  const other = templateVariables(sample.value).find(({ variable }) => !variables.has(variable));
  if (other !== undefined) {
    ignore(upstreamVhost, `the variable ${variableText(other)} is not known here, expected ${known}`);
    return {};
  }
  const fixed = literalOf(sample.value);
  if (fixed !== undefined && !hostAndPort.test(fixed)) {
    ignore(upstreamVhost, `${quote(fixed)} is not host[:port]`);
    return {};
  }
  return {
    ofPath({ backend }) {
      const template = parse(backend?.service ?? "");
      if (!template.ok) return undefined;
      const host = literalOf(template.value);
      return {
        "request-headers":
          host === undefined
            ? { templates: [{ name: "Host", value: template.value }] }
            : { set: [{ name: "Host", value: host }] },
      };
    },
  };
};
