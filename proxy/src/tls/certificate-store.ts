import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort, ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import { type ClientPolicy, createClientPolicy } from "./client-validation.ts";
import type { Terminator, Terminators } from "./terminators.ts";

/** A server name that a port serves, for the certificate metrics. */
export type ServedName = {
  readonly bucket: TlsHost["bucket"];
  /** A host, `*.x`, or `*` for the default. */
  readonly name: string;
  readonly notAfterMs: number;
};

/** The result for a server name. */
export type TlsSelection = {
  readonly terminator: Terminator;
  /** The rules for client certificates; undefined if there are none. */
  readonly policy: ClientPolicy | undefined;
};

/** The certificates of one port, by server name. Immutable; a change creates a new store from the same terminators. */
export type CertificateStore = {
  /**
   * Selects the terminator for a lower-case server name: an exact entry, else a wildcard for its left-most label (RFC
   * 6125 6.4.3), else the default. The empty name of a client that sent none selects the default. Undefined if the
   * handshake is rejected: no entry covers the name, or the most specific one is closed.
   */
  select(serverName: string): TlsSelection | undefined;
  readonly names: readonly ServedName[];
  /** Whether client certificates are requested for any name. */
  readonly asksClients: boolean;
  readonly terminators: ReadonlySet<Terminator>;
};

export const emptyCertificateStore: CertificateStore = {
  select: () => undefined,
  names: [],
  asksClients: false,
  terminators: new Set(),
};

/**
 * Creates the store of a port. Entries without a usable certificate are omitted; of two for the same name, the first
 * one is used. A name that only has a client validation presents the certificates of the next less specific entry.
 */
export function createCertificateStore(
  port: TlsPort,
  terminators: Terminators,
  clients: ClientCertPort = { authorities: {}, hosts: [] },
): CertificateStore {
  const closed = (port.closed ?? []).map(({ bucket, host }): TlsHost => ({ bucket, host, certificates: [] }));
  const named = [...port.hosts, ...closed];
  const certificates = createNameTable(named);
  const validations = createNameTable(clients.hosts);
  const names: ServedName[] = [];
  const used = new Set<Terminator>();

  const terminatorOf = (entry: TlsHost, policy?: ClientPolicy): Terminator | undefined =>
    terminators.get(entry.certificates, port.certificates, policy, entry.applicationProtocols === "none");

  /** Returns the most specific entry with usable certificates, and the validation if that is not less specific. */
  const combine = (bucket: TlsHost["bucket"], host: string): TlsSelection | undefined => {
    for (const entry of certificates.covering(bucket, host)) {
      if (entry.certificates.length === 0) return undefined;
      const validation = validations
        .covering(bucket, host)
        .find((candidate) => ranks[candidate.bucket] <= ranks[entry.bucket]);
      const policy = validation === undefined ? undefined : createClientPolicy(validation, clients);
      const terminator = terminatorOf(entry, policy);
      if (terminator === undefined) continue;
      used.add(terminator);
      if (entry.bucket === bucket) {
        const name = bucket === "default" ? "*" : host;
        names.push({ bucket, name, notAfterMs: terminator.notAfterMs });
      }
      return { terminator, policy };
    }
    return undefined;
  };

  /** The results for names with an entry; undefined if no certificate is left for one. */
  const exact = new Map<string, TlsSelection | undefined>();
  /** Wildcard entries by the name after `*.`. */
  const wildcards = new Map<string, TlsSelection | undefined>();
  for (const { bucket, host } of [...named, ...clients.hosts]) {
    const [table, key] = bucket === "wildcard" ? [wildcards, host.slice(2)] : [exact, host];
    if (bucket !== "default" && !table.has(key)) table.set(key, combine(bucket, host));
  }

  const fallback = combine("default", "*");

  /** Reports whether the nearest wildcard above a name is closed: its listener serves any number of labels. */
  const isBelowClosed = (name: string): boolean => {
    for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
      const parent = name.slice(dot + 1);
      if (wildcards.has(parent)) return wildcards.get(parent) === undefined;
    }
    return false;
  };

  return {
    select(serverName) {
      const found = exact.get(serverName);
      if (found !== undefined || exact.has(serverName)) return found;
      const dot = serverName.indexOf(".");
      const parent = serverName.slice(dot + 1);
      if (dot > 0 && wildcards.has(parent)) return wildcards.get(parent);
      return closed.length > 0 && isBelowClosed(parent) ? undefined : fallback;
    },
    names,
    asksClients: clients.hosts.length > 0,
    terminators: used,
  };
}

/** A lower rank is more specific. */
const ranks: { readonly [B in ClientValidation["bucket"]]: number } = { exact: 0, wildcard: 1, default: 2 };

type NameTable<Entry> = {
  /** The entries that cover a name or wildcard, the most specific first. */
  covering(bucket: TlsHost["bucket"], host: string): readonly Entry[];
};

function createNameTable<Entry extends Pick<TlsHost, "bucket" | "host">>(
  entries: readonly Entry[],
): NameTable<Entry> {
  const tables = { exact: new Map<string, Entry>(), wildcard: new Map<string, Entry>() };
  const fallback = entries.find(({ bucket }) => bucket === "default");
  for (const entry of entries) {
    if (entry.bucket === "default" || tables[entry.bucket].has(entry.host)) continue;
    tables[entry.bucket].set(entry.host, entry);
  }
  return {
    covering(bucket, host) {
      const wildcard = bucket === "exact" ? `*${host.slice(Math.max(0, host.indexOf(".")))}` : host;
      const covering = [
        bucket === "exact" ? tables.exact.get(host) : undefined,
        bucket === "default" ? undefined : tables.wildcard.get(wildcard),
        fallback,
      ];
      return covering.filter((entry) => entry !== undefined);
    },
  };
}
