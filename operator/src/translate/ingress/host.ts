import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { formatHostname, parseHostname } from "@svc-gateway/common/values/hostname.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";

/** The pattern for every host that no other pattern of the port matches. */
export const anyHost: HostPattern = { kind: "any", host: "*" };

/**
 * Parses a host of an Ingress rule or TLS block: a DNS name, or `*.` and a DNS name, which matches exactly one
 * additional label (Kubernetes API reference, IngressRule). The result is lower-case.
 */
export function parseIngressHost(text: string): Result<HostPattern> {
  const parsed = parseHostname(text);
  return parsed.ok ? ok({ kind: parsed.value.kind, host: formatHostname(parsed.value) }) : parsed;
}
