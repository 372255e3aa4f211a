/** Which certificates the server names of Ingresses are offered. See docs/routing.md, "Certificates". */
import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { refOf, type ObjectRef } from "../../api/object.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { Lookup } from "../../world.ts";
import { compareAges, compareText, type Age } from "../age.ts";
import { attempt } from "../attempt.ts";
import { readTlsSecret, type TlsCertificate } from "../certificates/tls-secret.ts";
import {
  certificateConflict,
  certificateHostMismatch,
  invalidCertificate,
  secretNotFound,
} from "../diagnostics.ts";
import { haveSameItems } from "../memo.ts";
import type { Diagnostic } from "../translation.ts";
import { parseIngress } from "./parse.ts";

/** A usable certificate that one Ingress (or the settings) offers for one host. */
export type TlsClaim = {
  readonly host: HostPattern;
  readonly certificate: TlsCertificate;
  readonly secret: ObjectRef;
  readonly owner: ObjectRef;
  readonly namespace: string;
  readonly age: Age;
  readonly field: string;
};

export type TlsPlan = { readonly claims: readonly TlsClaim[]; readonly diagnostics: readonly Diagnostic[] };

/** The certificates of one Ingress. Never throws; a Secret that is missing or unusable only costs its own hosts. */
export function planTls(ingress: ObjectOf<"Ingress">, lookup: Lookup): TlsPlan {
  return attempt(ingress, () => plan(ingress, lookup), { claims: [] });
}

function plan(ingress: ObjectOf<"Ingress">, lookup: Lookup): TlsPlan {
  const { ref: owner, namespace, age, tls } = parseIngress(ingress);
  const diagnostics: Diagnostic[] = [];
  const claims: TlsClaim[] = [];
  for (const { hosts, secretName, field } of tls) {
    const key = `${namespace}/${secretName}`;
    const place = { object: owner, field: `${field}.secretName` };
    const secret = lookup("Secret", namespace, secretName);
    if (secret === undefined) {
      diagnostics.push(secretNotFound(place, key));
      continue;
    }
    const certificate = readTlsSecret(secret);
    if (!certificate.ok) {
      diagnostics.push(invalidCertificate(place, certificate.error));
      continue;
    }
    for (const host of hosts) {
      claims.push({
        host,
        certificate: certificate.value,
        secret: refOf(secret),
        owner,
        namespace,
        age,
        field,
      });
      if (!certificate.value.covers(host)) diagnostics.push(certificateHostMismatch(place, key, host.host));
    }
  }
  return { claims, diagnostics };
}

/** The certificates of one server name, and what those who may not add to them are told. */
export type TlsHostTable = {
  readonly host: TlsHost;
  readonly used: readonly TlsClaim[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * A server name belongs to the oldest Ingress that offers a usable certificate for it. Only Ingresses of the same
 * namespace may add certificates (ECDSA next to RSA, say), so that no other namespace can replace or break its TLS.
 */
export function buildTlsHost(claims: readonly TlsClaim[]): TlsHostTable {
  const byAge = [...claims].sort((a, b) => compareAges(a.age, b.age));
  const [first] = byAge;
  if (first === undefined) throw new Error("a server name needs a certificate");
  const used = byAge.filter(({ namespace }) => namespace === first.namespace);
  const ids = used
    .map(({ certificate }) => certificate)
    .sort(compareChoice)
    .map(({ id }) => id);
  const diagnostics = byAge
    .filter(({ namespace }) => namespace !== first.namespace)
    .map(({ owner, field, host }) => certificateConflict({ object: owner, field }, host.host, first.owner));
  const { kind, host } = first.host;
  return {
    host: { bucket: kind === "any" ? "default" : kind, host, certificates: [...new Set(ids)] },
    used,
    diagnostics,
  };
}

/** ECDSA before others, because it is cheaper to serve; then the one that is valid longest. */
function compareChoice(a: TlsCertificate, b: TlsCertificate): number {
  const byType = Number(b.keyType === "ecdsa") - Number(a.keyType === "ecdsa");
  return byType || b.notAfterMs - a.notAfterMs || compareText(a.id, b.id);
}

/**
 * All server names of a port, with each certificate once. The last value is given again while the server names and
 * their certificates are equal to its own, because writing out thousands of them costs more than comparing them.
 */
export function createTlsPortBuilder(): (tables: readonly TlsHostTable[]) => TlsPort {
  let last: TlsPort = { certificates: {}, hosts: [] };
  let lastTables: readonly TlsHostTable[] = [];
  let lastHosts: ReadonlyMap<string, TlsHost> = new Map();
  return (tables) => {
    if (haveSameItems(tables, lastTables)) return last;
    lastTables = tables;
    const isEqual = tables.every(({ host }) => isSameHost(host, lastHosts.get(host.host)));
    if (isEqual && tables.length === lastHosts.size) return last;
    last = buildTlsPort(tables);
    lastHosts = new Map(last.hosts.map((host) => [host.host, host]));
    return last;
  };
}

/** Ids are content hashes, so equal ids are equal certificates. */
const isSameHost = (host: TlsHost, last: TlsHost | undefined): boolean =>
  last !== undefined &&
  host.certificates.length === last.certificates.length &&
  host.certificates.every((id, index) => id === last.certificates[index]);

function buildTlsPort(tables: readonly TlsHostTable[]): TlsPort {
  const certificates: Record<string, TlsPort["certificates"][string]> = {};
  for (const { used } of tables) {
    for (const { certificate } of used) certificates[certificate.id] = certificate.value;
  }
  const hosts = tables.map(({ host }) => host);
  return {
    certificates,
    hosts: hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host)),
  };
}
