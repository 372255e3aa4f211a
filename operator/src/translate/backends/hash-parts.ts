/** The text that a SvcBackendPolicy hashes. See docs/features/load-balancing.md, "Several parts". */
import { parseCookieName } from "@svc-gateway/common/features/backend-policy.ts";
import type { RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import { parseHeaderName } from "@svc-gateway/common/values/header-name.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { SvcBackendPolicySpec } from "../../api/generated/svcbackendpolicy.ts";
import type { IgnoreValue } from "../diagnostics/policies.ts";

type HashSpec = NonNullable<NonNullable<SvcBackendPolicySpec["loadBalancer"]>["hash"]>;
type PartSpec = HashSpec["parts"][number];
type Part = RequestTemplate[number];

/**
 * Reads the hash. One part that cannot be read makes the whole hash invalid: without that part, different
 * requests would share a key.
 */
export function readHash({ parts, subset }: HashSpec, ignore: IgnoreValue): Balancing | undefined {
  const key: Part[] = [];
  for (const [index, spec] of parts.entries()) {
    const part = readPart(spec);
    if (!part.ok) return ignore(`spec.loadBalancer.hash.parts[${index}]`, part.error, "round_robin applies");
    key.push(part.value);
  }
  return { algorithm: "hash", key, ...(subset !== undefined && { subset }) };
}

function readPart({ from, name = "", value = "" }: PartSpec): Result<Part> {
  switch (from) {
    case "ClientAddress":
      return ok({ variable: "remote_addr" });
    case "Host":
      return ok({ variable: "host" });
    case "Scheme":
      return ok({ variable: "scheme" });
    case "Method":
      return ok({ variable: "request_method" });
    case "URI":
      return ok({ variable: "request_uri" });
    case "Path":
      return ok({ variable: "uri" });
    case "Query":
      return ok({ variable: "args" });
    case "Header": {
      const header = parseHeaderName(name);
      return header.ok ? ok({ variable: "http", name: header.value.toLowerCase() }) : header;
    }
    case "Cookie": {
      const cookie = parseCookieName(name);
      return cookie.ok ? ok({ variable: "cookie", name: cookie.value.toLowerCase() }) : cookie;
    }
    case "QueryParameter":
      return parameterName.test(name)
        ? ok({ variable: "arg", name: name.toLowerCase() })
        : problem(
            `"${name.slice(0, 64)}" is not the name of a query parameter`,
            "visible ASCII characters but # & =",
          );
    case "Text":
      return printable.test(value)
        ? ok(value)
        : problem("the text has characters that are not printable ASCII", "printable ASCII characters");
  }
}

const parameterName = /^[!"$%'-<>-~]+$/;
const printable = /^[ -~]+$/;
