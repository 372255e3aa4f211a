/** The certificates that ports offer for listeners that terminate TLS. See docs/gateway-api.md, "Certificates". */
import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { compareText } from "../../age.ts";
import { compareChoice } from "../../certificates/tls-secret.ts";
import { listMemo } from "../../incremental/memo.ts";
import type { Listener } from "../listeners/gateways.ts";

/**
 * Builds the certificates of the given listeners of a port. The result is the same value while the listeners
 * are the same.
 */
export const createTlsBuilder = (): ((listeners: readonly Listener[]) => TlsPort) => {
  const build = listMemo(buildTlsPort);
  return (listeners) => build(listeners, undefined);
};

function buildTlsPort(listeners: readonly Listener[]): TlsPort {
  const certificates: Record<string, TlsPort["certificates"][string]> = {};
  const hosts: TlsHost[] = [];
  for (const { hostname, protocol, certificates: offered } of listeners) {
    if (offered.length === 0) continue;
    for (const { id, value } of offered) certificates[id] = value;
    const ids = [...offered].sort(compareChoice).map(({ id }) => id);
    const { kind, host } = hostname;
    hosts.push({
      bucket: kind === "any" ? "default" : kind,
      host,
      certificates: [...new Set(ids)],
      ...(protocol === "tls" && { applicationProtocols: "none" }),
    });
  }
  hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host));
  return { certificates, hosts };
}

/** Merges the certificates of one port. For a host that both have, the certificates of the first are offered. */
export function mergeTlsPorts(first: TlsPort, second: TlsPort): TlsPort {
  const taken = new Set(first.hosts.map(({ host }) => host));
  const others = second.hosts.filter(({ host }) => !taken.has(host));
  const hosts = [...first.hosts, ...others];
  hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host));
  const used = new Set(hosts.flatMap(({ certificates }) => certificates));
  const all = Object.entries({ ...second.certificates, ...first.certificates });
  return { certificates: Object.fromEntries(all.filter(([id]) => used.has(id))), hosts };
}
