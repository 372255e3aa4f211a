/** The certificates that ports offer for listeners that terminate TLS. See docs/gateway-api.md, "Certificates". */
import type { ClosedName, TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { compareText } from "../../age.ts";
import { compareChoice } from "../../certificates/tls-secret.ts";
import { listMemo, memo } from "../../incremental/memo.ts";
import type { Listener } from "../listeners/gateways.ts";

/** Returns the listener without its certificates, which are too large. Its name is closed. */
export const withoutCertificates = memo((listener: Listener): Listener => ({
  ...listener,
  certificates: [],
}));

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
  const closed: ClosedName[] = [];
  const hosts: TlsHost[] = [];
  for (const { hostname, protocol, certificates: offered } of listeners) {
    const { kind, host } = hostname;
    if (offered.length === 0) {
      // The default name has no wider one whose certificate could be presented instead.
      if (kind !== "any") closed.push({ bucket: kind, host });
      continue;
    }
    for (const { id, value } of offered) certificates[id] = value;
    const ids = [...offered].sort(compareChoice).map(({ id }) => id);
    hosts.push({
      bucket: kind === "any" ? "default" : kind,
      host,
      certificates: [...new Set(ids)],
      ...(protocol === "tls" && { applicationProtocols: "none" }),
    });
  }
  hosts.sort(compareNames);
  return { certificates, ...closedBeside(hosts, closed), hosts };
}

const compareNames = (a: ClosedName | TlsHost, b: ClosedName | TlsHost): number =>
  compareText(a.bucket, b.bucket) || compareText(a.host, b.host);

/** The names of `closed` for which no certificate is offered, sorted. */
function closedBeside(hosts: readonly TlsHost[], closed: TlsPort["closed"] = []): Pick<TlsPort, "closed"> {
  if (closed.length === 0) return {};
  const offered = new Set(hosts.map(({ host }) => host));
  const names = closed.filter(({ host }) => !offered.has(host)).sort(compareNames);
  return names.length === 0 ? {} : { closed: names };
}

/**
 * Merges the certificates of Gateways and Ingresses on one port. For a host that both have, those of the Gateways
 * are offered, and a closed name for which Ingresses have certificates is not closed. Closed wildcards are dropped
 * beside Ingresses with certificates, because they would cover hosts of Ingresses, also of other namespaces.
 */
export function mergeTlsPorts(first: TlsPort, second: TlsPort): TlsPort {
  const taken = new Set(first.hosts.map(({ host }) => host));
  const others = second.hosts.filter(({ host }) => !taken.has(host));
  const hosts = [...first.hosts, ...others];
  hosts.sort(compareNames);
  const used = new Set(hosts.flatMap(({ certificates }) => certificates));
  const all = Object.entries({ ...second.certificates, ...first.certificates });
  const kept = first.closed?.filter(({ bucket }) => bucket === "exact" || second.hosts.length === 0);
  const closed = closedBeside(hosts, kept);
  return { certificates: Object.fromEntries(all.filter(([id]) => used.has(id))), ...closed, hosts };
}
