/** Which certificates the server names of Ingresses are offered. See docs/routing.md, "Certificates". */
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { formatRef, refOf, type ObjectRef } from "../../api/object.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { compareAges, compareText, type Age } from "../age.ts";
import { attempt } from "../attempt.ts";
import { compareChoice } from "../certificates/choice.ts";
import { readTlsSecret, type TlsCertificate } from "../certificates/tls-secret.ts";
import {
  certificateConflict,
  certificateHostMismatch,
  invalidAnnotation,
  invalidCertificate,
  keyField,
  secretNotFound,
  type Place,
} from "../diagnostics.ts";
import { invalidAnnotationEvent } from "../events.ts";
import { translateAuthTls, type AuthTls } from "../features/auth-tls.ts";
import { haveSameItems } from "../memo.ts";
import type { DesiredEvent, Diagnostic } from "../translation.ts";
import type { View } from "../view.ts";
import { openAnnotations } from "./annotations.ts";
import { parseIngress } from "./parse.ts";

/** What one Ingress (or the settings) wants for the handshakes of one host. */
export type TlsClaim = {
  readonly host: HostPattern;
  /** Undefined: the certificates of a less specific name are shown. */
  readonly offer: TlsOffer | undefined;
  /** Undefined: nothing is asked of clients. */
  readonly clients: AuthTls | undefined;
  readonly owner: ObjectRef;
  readonly namespace: string;
  readonly age: Age;
  readonly field: string;
};

/** A usable certificate. */
export type TlsOffer = { readonly certificate: TlsCertificate; readonly secret: ObjectRef };

type Findings = { readonly diagnostics: readonly Diagnostic[]; readonly events: readonly DesiredEvent[] };

export type TlsPlan = Findings & { readonly claims: readonly TlsClaim[] };

/** What one Ingress wants for its TLS hosts. Never throws; an unusable Secret only costs its own hosts. */
export function planTls(ingress: ObjectOf<"Ingress">, view: View): TlsPlan {
  return attempt(ingress, () => plan(ingress, view), { claims: [], events: [] });
}

function plan(ingress: ObjectOf<"Ingress">, view: View): TlsPlan {
  const { ref: owner, namespace, age, tls } = parseIngress(ingress);
  const annotations = openAnnotations(ingress, undefined, { view, httpsPublicPort: 0 });
  const clients = translateAuthTls(annotations.read, annotations.context);
  const diagnostics: Diagnostic[] = [];
  const claims: TlsClaim[] = [];
  for (const { hosts, secretName, field } of tls) {
    const place = { object: owner, field: `${field}.secretName` };
    const read = secretName === undefined ? undefined : readOffer(namespace, secretName, place, view);
    const offer = read?.offer;
    if (read !== undefined) diagnostics.push(...read.diagnostics);
    if (offer === undefined && clients === undefined) continue;
    for (const host of hosts) {
      claims.push({ host, offer, clients, owner, namespace, age, field });
      if (offer !== undefined && !offer.certificate.covers(host)) {
        diagnostics.push(certificateHostMismatch(place, `${namespace}/${secretName}`, host.host));
      }
    }
  }
  if (clients !== undefined && claims.length === 0) {
    annotations.context.warn(authTls.annotations.authTlsSecret, "has no effect, as spec.tls names no host");
  }
  return {
    claims,
    diagnostics: [...diagnostics, ...annotations.diagnostics],
    events: annotations.events,
  };
}

function readOffer(
  namespace: string,
  name: string,
  place: Place,
  { lookup }: View,
): { readonly offer: TlsOffer | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const secret = lookup("Secret", namespace, name);
  if (secret === undefined) {
    return { offer: undefined, diagnostics: [secretNotFound(place, `${namespace}/${name}`)] };
  }
  const certificate = readTlsSecret(secret);
  if (!certificate.ok) {
    return { offer: undefined, diagnostics: [invalidCertificate(place, certificate.error)] };
  }
  return { offer: { certificate: certificate.value, secret: refOf(secret) }, diagnostics: [] };
}

/** What one server name shows and asks for, and what those who may not take part in it are told. */
export type TlsHostTable = Findings & {
  readonly name: HostPattern;
  /** Undefined: the name has no certificate of its own. */
  readonly host: TlsHost | undefined;
  readonly clients: AuthTls | undefined;
  readonly used: readonly TlsOffer[];
};

/**
 * A server name belongs to the oldest Ingress that offers a usable certificate for it, or, without any, to the oldest
 * one that names it. Only Ingresses of the same namespace may add certificates (ECDSA next to RSA, say), and nobody
 * else decides about client certificates, so that no other Ingress can replace or break its TLS.
 */
export function buildTlsHost(claims: readonly TlsClaim[]): TlsHostTable {
  const byAge = [...claims].sort((a, b) => compareAges(a.age, b.age));
  const offering = byAge.filter(({ offer }) => offer !== undefined);
  const first = offering[0] ?? byAge[0];
  if (first === undefined) throw new Error("a server name needs a claim");
  const { host: name, owner } = first;
  const used = offering.flatMap(({ namespace, offer }) =>
    namespace === first.namespace && offer !== undefined ? [offer] : [],
  );
  const ids = used
    .map(({ certificate }) => certificate)
    .sort(compareChoice)
    .map(({ id }) => id);
  const conflicts = offering
    .filter(({ namespace }) => namespace !== first.namespace)
    .map((claim) => certificateConflict({ object: claim.owner, field: claim.field }, name.host, owner));
  const unheard = byAge.filter((claim) => claim.clients !== undefined && claim.owner !== owner);
  const key = annotationKey(authTls.annotations.authTlsSecret);
  const message = `${key}: is ignored for host ${name.host}, whose TLS belongs to ${formatRef(owner)}`;
  const field = keyField("metadata.annotations", key);
  return {
    name,
    host:
      used.length === 0
        ? undefined
        : { bucket: bucketOf(name), host: name.host, certificates: [...new Set(ids)] },
    clients: first.clients,
    used,
    diagnostics: [
      ...conflicts,
      ...unheard.map((claim) => invalidAnnotation({ object: claim.owner, field }, message)),
    ],
    events: unheard.map((claim) => invalidAnnotationEvent(claim.owner, message)),
  };
}

export const bucketOf = ({ kind }: HostPattern): TlsHost["bucket"] => (kind === "any" ? "default" : kind);

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
    const hosts = tables.flatMap(({ host }) => host ?? []);
    const isEqual = hosts.every((host) => isSameHost(host, lastHosts.get(host.host)));
    if (isEqual && hosts.length === lastHosts.size) return last;
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
  const hosts = tables.flatMap(({ host }) => host ?? []);
  return {
    certificates,
    hosts: hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host)),
  };
}
