import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { Terminator, Terminators } from "./terminators.ts";

/** A server name that a port answers, for the certificate metrics. */
export type ServedName = {
  readonly bucket: TlsHost["bucket"];
  /** A host, `*.x`, or `*` for the default. */
  readonly name: string;
  readonly notAfterMs: number;
};

/** The certificates of one port, by server name. Immutable: a change makes a new one from the same terminators. */
export type CertificateStore = {
  /**
   * Who terminates TLS for a lower-case server name: an exact entry, else a wildcard for its left-most label
   * (RFC 6125 6.4.3), else the default. The empty name, of a client that sent none, has only the default.
   */
  select(serverName: string): Terminator | undefined;
  readonly names: readonly ServedName[];
  readonly terminators: ReadonlySet<Terminator>;
};

export const emptyCertificateStore: CertificateStore = {
  select: () => undefined,
  names: [],
  terminators: new Set(),
};

/** Entries without a usable certificate are left out; of two for the same name the first one counts. */
export function createCertificateStore(port: TlsPort, terminators: Terminators): CertificateStore {
  const exact = new Map<string, Terminator>();
  /** By what follows the `*.`. */
  const wildcards = new Map<string, Terminator>();
  let fallback: Terminator | undefined;
  const names: ServedName[] = [];
  const used = new Set<Terminator>();

  for (const { bucket, host, certificates } of port.hosts) {
    const terminator = terminators.get(certificates, port.certificates);
    if (terminator === undefined) continue;
    switch (bucket) {
      case "exact":
        if (exact.has(host)) continue;
        exact.set(host, terminator);
        break;
      case "wildcard":
        if (wildcards.has(host.slice(2))) continue;
        wildcards.set(host.slice(2), terminator);
        break;
      case "default":
        if (fallback !== undefined) continue;
        fallback = terminator;
        break;
    }
    names.push({ bucket, name: bucket === "default" ? "*" : host, notAfterMs: terminator.notAfterMs });
    used.add(terminator);
  }

  return {
    select(serverName) {
      const found = exact.get(serverName);
      if (found !== undefined) return found;
      const dot = serverName.indexOf(".");
      return (dot > 0 ? wildcards.get(serverName.slice(dot + 1)) : undefined) ?? fallback;
    },
    names,
    terminators: used,
  };
}
