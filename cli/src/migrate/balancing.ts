/** Writes the load balancing of a path for a SvcBackendPolicy: an algorithm, or a hash of several parts. */
import type { HashKey, LoadBalancer } from "@svc-gateway/common/features/backend-policy.ts";
import { variableText, type RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { SvcBackendPolicySpec } from "@svc-gateway/operator/api/generated/svcbackendpolicy.ts";
import type { Note } from "./written.ts";

type BalancerSpec = NonNullable<SvcBackendPolicySpec["loadBalancer"]>;
type PartSpec = NonNullable<BalancerSpec["hash"]>["parts"][number];
type TemplatePart = RequestTemplate[number];

/** The limits of the schema of the policy. */
const maxParts = 16;
const maxTextLength = 256;

type WrittenBalancing = {
  readonly loadBalancer?: BalancerSpec;
  readonly note?: Pick<Note, "loss" | "text">;
};

/** Writes `loadBalancer` of a policy. */
export function writeBalancing(balancing: Balancing | undefined): WrittenBalancing {
  if (balancing === undefined) return {};
  if (balancing.algorithm !== "hash") return { loadBalancer: { algorithm: balancing.algorithm } };
  const { key, subset } = balancing;
  const parts: PartSpec[] = [];
  for (const part of key) {
    const written = writePart(part);
    if (written === undefined) {
      const what = typeof part === "string" ? "A text that is not printable ASCII" : variableText(part);
      return lost(`${what} is not among the parts that a policy can hash; endpoints are chosen in turn`);
    }
    parts.push(written);
  }
  if (parts.length > maxParts)
    return lost(`A policy hashes at most ${maxParts} parts; endpoints are chosen in turn`);
  const [first] = parts;
  const isAddress = parts.length === 1 && first?.from === "ClientAddress" && subset === undefined;
  return {
    loadBalancer: isAddress
      ? { algorithm: "hash:source-ip" }
      : { hash: { parts, ...(subset !== undefined && { subset }) } },
    ...(key.some((part) => typeof part !== "string" && part.variable === "http_host") && {
      note: { loss: "changed", text: "The host is hashed in lower case and without its port" },
    }),
  };
}

const lost = (text: string): WrittenBalancing => ({ note: { loss: "lost", text } });

function writePart(part: TemplatePart): PartSpec | undefined {
  if (typeof part === "string") {
    return part.length <= maxTextLength && /^[ -~]+$/.test(part) ? { from: "Text", value: part } : undefined;
  }
  switch (part.variable) {
    case "remote_addr":
    case "binary_remote_addr":
      return { from: "ClientAddress" };
    case "host":
    case "server_name":
    case "http_host":
      return { from: "Host" };
    case "scheme":
      return { from: "Scheme" };
    case "request_method":
      return { from: "Method" };
    case "request_uri":
      return { from: "URI" };
    case "uri":
      return { from: "Path" };
    case "args":
    case "query_string":
      return { from: "Query" };
    case "http":
      return { from: "Header", name: part.name };
    case "cookie":
      return { from: "Cookie", name: part.name };
    case "arg":
      return { from: "QueryParameter", name: part.name };
    default:
      return undefined;
  }
}

/** The load balancing of a backend, in a common form for settings of its route and of the policy of its Service. */
export function comparableBalancing(
  { balancing }: Backend,
  set: Pick<EndpointSet, "policy" | "balancing"> | undefined,
): object | undefined {
  if (balancing !== undefined) return comparable(balancing, "one endpoint");
  if (set?.balancing !== undefined) return comparable(set.balancing, "in turn");
  const ofService: LoadBalancer | undefined = set?.policy?.loadBalancer;
  if (ofService?.algorithm !== "hash") return ofService;
  return comparable({ algorithm: "hash", key: [variableOf(ofService.key)] }, "in turn");
}

function comparable(balancing: Balancing, ofEmpty: string): object {
  if (balancing.algorithm !== "hash") return balancing;
  const key = balancing.key.map((part) =>
    typeof part === "string" || "name" in part
      ? part
      : { variable: synonyms[part.variable] ?? part.variable },
  );
  // The treatment of requests without a value differs only if the hashed text can be empty.
  return { ...balancing, key, ...(key.every(mayBeEmpty) && { ofEmpty }) };
}

const synonyms: Readonly<Record<string, string>> = {
  binary_remote_addr: "remote_addr",
  server_name: "host",
  query_string: "args",
};

const mayBeEmpty = (part: string | { readonly variable: string }): boolean =>
  typeof part !== "string" && ["http", "cookie", "arg", "args"].includes(part.variable);

function variableOf(key: HashKey): TemplatePart {
  switch (key.from) {
    case "source-ip":
      return { variable: "remote_addr" };
    case "uri":
      return { variable: "request_uri" };
    case "header":
      return { variable: "http", name: key.name };
    case "cookie":
      return { variable: "cookie", name: key.name };
  }
}
