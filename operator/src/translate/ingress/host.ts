import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { formatHostname, parseHostname } from "@svc-gateway/common/values/hostname.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";

/** Every host that no other pattern of the port names. */
export const anyHost: HostPattern = { kind: "any", host: "*" };

/**
 * A host as Ingress rules and TLS blocks name it: a DNS name, or `*.` and a DNS name for one label more (Kubernetes
 * API reference, IngressRule). The result is lower-case.
 */
export function parseIngressHost(text: string): Result<HostPattern> {
  const parsed = parseHostname(text);
  return parsed.ok ? ok({ kind: parsed.value.kind, host: formatHostname(parsed.value) }) : parsed;
}
