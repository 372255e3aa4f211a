/** Assigns certificates to the server names of Ingresses. See docs/routing.md, "Certificates". */
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { formatRef, refOf, type ObjectRef } from "../../api/object.ts";
import { compareAges, compareText } from "../age.ts";
import { attempt } from "../attempt.ts";
import { servedCertificate } from "../certificates/last-good.ts";
import { formatTime } from "../certificates/validity.ts";
import { compareChoice } from "../certificates/tls-secret.ts";
import { authTlsHostNotListed, authTlsWithoutHosts, invalidAnnotation } from "../diagnostics/annotations.ts";
import {
  certificateConflict,
  certificateHostMismatch,
  invalidCertificate,
  lastCertificateKept,
  secretNotFound,
} from "../diagnostics/certificates.ts";
import { keyField, type Place } from "../diagnostics/define-finding.ts";
import { invalidAnnotationEvent } from "../events.ts";
import { translateAuthTls, type AuthTls } from "../features/auth-tls.ts";
import type { Diagnostic } from "../finding.ts";
import { haveSameItems } from "../incremental/memo.ts";
import type { View } from "../incremental/view.ts";
import type { NginxClass } from "../ingress-nginx/class.ts";
import { readNginxAuthTls } from "../ingress-nginx/client-certificates.ts";
import { openAnnotations } from "./annotations.ts";
import { asksAlike } from "./client-rules.ts";
import { anyHost } from "./host.ts";
import { parseIngress } from "./parse.ts";
import type {
  TlsHostTable,
  TlsClaim,
  TlsOffer,
  Findings,
  OwnedRules,
  NamespaceRules,
} from "./tls-host-table.ts";
export type TlsPlan = Findings & { readonly claims: readonly TlsClaim[] };

/**
 * Plans the TLS hosts of one Ingress, in the dialect of ingress-nginx if `nginx` is set. Never throws. An
 * unusable Secret only affects its own hosts.
 */
export function planTls(ingress: ObjectOf<"Ingress">, view: View, nginx: NginxClass | undefined): TlsPlan {
  return attempt(ingress, () => plan(ingress, view, nginx), { claims: [], events: [] });
}

function plan(ingress: ObjectOf<"Ingress">, view: View, nginx: NginxClass | undefined): TlsPlan {
  const { ref: owner, namespace, age, tls, hosts: ruleHosts, defaultBackend } = parseIngress(ingress);
  const annotations = openAnnotations(ingress, undefined, { view, httpsPublicPort: 0 });
  const own = translateAuthTls(annotations.read, annotations.context);
  const clients = own ?? (nginx && readNginxAuthTls(ingress, nginx, view));
  const isNginx = nginx !== undefined;
  const diagnostics: Diagnostic[] = [];
  const claims: TlsClaim[] = [];
  const offers: (Pick<TlsClaim, "field"> & { readonly offer: TlsOffer })[] = [];
  for (const { hosts, secretName, field } of tls) {
    const place = { object: owner, field: `${field}.secretName` };
    const read = secretName === undefined ? undefined : readOffer(namespace, secretName, place, view);
    const offer = read?.offer;
    if (read !== undefined) diagnostics.push(...read.diagnostics);
    if (offer !== undefined) offers.push({ offer, field });
    for (const host of hosts) {
      // As in ingress-nginx, a certificate is not presented for names that it does not cover.
      const usable = isNginx && offer?.certificate.covers(host) === false ? undefined : offer;
      const claim = { host, offer: usable, clients, owner, namespace, age, field };
      claims.push(isNginx ? { ...claim, fallsBack: true } : claim);
      if (offer !== undefined && !offer.certificate.covers(host)) {
        diagnostics.push(certificateHostMismatch(place, `${namespace}/${secretName}`, host.host));
      }
    }
  }
  if (isNginx) {
    // Hosts of rules that no block lists belong to the first block whose certificate covers them, as in ingress-nginx,
    // even if that certificate does not cover the hosts of its own block.
    for (const host of unlistedHosts(claims, ruleHosts)) {
      const covering = offers.find(({ offer }) => offer.certificate.covers(host));
      if (covering !== undefined) {
        claims.push({ host, ...covering, clients, owner, namespace, age, fallsBack: true });
      }
    }
  }
  if (clients?.byRequest !== undefined) {
    // If clients are rejected by answers to requests, all hosts of the rules request certificates, whichever
    // Ingress lists them.
    for (const host of unlistedHosts(claims, ruleHosts)) {
      claims.push({
        host,
        offer: undefined,
        clients,
        owner,
        namespace,
        age,
        field: "metadata.annotations",
        isUnlisted: true,
      });
    }
  }
  if (own !== undefined && own.byRequest === undefined) {
    const served = defaultBackend === undefined ? ruleHosts : [...ruleHosts, anyHost];
    for (const finding of unverifiedHosts(claims, served)) {
      annotations.context.reportWithEvent(authTls.annotations.authTlsSecret, finding);
    }
  }
  return {
    claims,
    diagnostics: [...diagnostics, ...annotations.diagnostics],
    events: annotations.events,
  };
}

/** The hosts of rules that no claim is about. */
const unlistedHosts = (
  claims: readonly TlsClaim[],
  ruleHosts: readonly HostPattern[],
): readonly HostPattern[] =>
  ruleHosts.filter(({ kind, host }) => kind !== "any" && !claims.some((claim) => claim.host.host === host));

/**
 * Findings about hosts of an Ingress for which no handshake requests client certificates, although the Ingress
 * requires them.
 */
function unverifiedHosts(
  claims: readonly TlsClaim[],
  served: readonly HostPattern[],
): readonly ((place: Place) => Diagnostic)[] {
  if (claims.length === 0) return [authTlsWithoutHosts];
  const listed = new Set(claims.map(({ host }) => host.host));
  const isListed = ({ kind, host }: HostPattern): boolean =>
    listed.has(host) || (kind === "exact" && listed.has(host.replace(/^[^.]+/, "*")));
  return [...new Set(served)]
    .filter((host) => !isListed(host))
    .map(
      ({ host }) =>
        (place) =>
          authTlsHostNotListed(place, host),
    );
}

/**
 * Reads the client certificates that an Ingress requires on its routes. The findings about them are those of
 * `planTls`.
 */
export function readAuthTls(ingress: ObjectOf<"Ingress">, view: View): AuthTls | undefined {
  const key = annotationKey(authTls.annotations.authTlsSecret);
  if (!Object.hasOwn(ingress.metadata.annotations ?? {}, key)) return undefined;
  const { read, context } = openAnnotations(ingress, undefined, { view, httpsPublicPort: 0 });
  return translateAuthTls(read, context);
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
  const served = servedCertificate(secret);
  if (!served.ok) {
    return {
      offer: undefined,
      diagnostics: [invalidCertificate(place, `${namespace}/${name}`, served.error)],
    };
  }
  const { certificate, unusableUpdate } = served.value;
  const offer = { certificate, secret: refOf(secret) };
  if (unusableUpdate === undefined) return { offer, diagnostics: [] };
  const until = formatTime(certificate.notAfterMs);
  return { offer, diagnostics: [lastCertificateKept(place, `${namespace}/${name}`, unusableUpdate, until)] };
}

/**
 * Builds the table of a server name. Its certificate belongs to the oldest Ingress that offers a usable one; only
 * Ingresses of the same namespace may add others (such as ECDSA next to RSA). The rules for client certificates
 * belong to the oldest Ingress that lists the name, even if its certificate is unusable: no other Ingress can
 * replace or break its TLS, and a temporarily missing Secret does not open the host. A default certificate in the
 * settings belongs to the operator, and prevents Ingresses from requesting certificates of the clients of all names.
 */
export function buildTlsHost(claims: readonly TlsClaim[]): TlsHostTable {
  const byAge = [...claims].sort((a, b) => compareAges(a.age, b.age));
  const offering = byAge.filter(({ offer }) => offer !== undefined);
  const [oldest] = byAge;
  const first = offering[0] ?? oldest;
  if (oldest === undefined || first === undefined) throw new Error("a server name needs a claim");
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
  const ignoredRules = findIgnoredRules(byAge, deciding(byAge, oldest));
  const asks = byAge.some(({ clients }) => clients !== undefined);
  return {
    name,
    host:
      used.length === 0
        ? undefined
        : { bucket: bucketOf(name), host: name.host, certificates: [...new Set(ids)] },
    clients: rulesOf(deciding(byAge, oldest)),
    used,
    claims,
    asks,
    byNamespace: splitByNamespace(byAge.filter(isOfIngress)),
    diagnostics: [
      ...conflicts,
      ...ignoredRules.map(({ object, field, message }) => invalidAnnotation({ object, field }, message)),
    ],
    events: ignoredRules.map(({ object, message }) => invalidAnnotationEvent(object, message)),
  };
}

/** Whether an Ingress made the claim. The settings claim every name, without rules for clients. */
const isOfIngress = ({ owner }: TlsClaim): boolean => owner.kind === "Ingress";

/**
 * The claim whose rules apply: the oldest one or, if it has no rules, the oldest one of its namespace whose
 * rules are applied per request.
 */
const deciding = (byAge: readonly TlsClaim[], oldest: TlsClaim): TlsClaim =>
  oldest.clients === undefined
    ? (byAge.find(
        ({ namespace, clients }) => namespace === oldest.namespace && clients?.byRequest !== undefined,
      ) ?? oldest)
    : oldest;

const rulesOf = ({ owner, clients }: TlsClaim): OwnedRules | undefined =>
  clients && { owner, rules: clients };

const splitByNamespace = (byAge: readonly TlsClaim[]): ReadonlyMap<string, NamespaceRules> =>
  new Map(
    [...Map.groupBy(byAge, ({ namespace }) => namespace)].map(([namespace, own]) => {
      const [oldest] = own;
      const offers = own.some(({ offer }) => offer !== undefined);
      return [namespace, { offers, clients: oldest && rulesOf(deciding(own, oldest)) }] as const;
    }),
  );

type IgnoredRules = { readonly object: ObjectRef; readonly field: string; readonly message: string };

/** Ingresses whose rules do not apply in the handshakes of a name, and differ from those that do. */
function findIgnoredRules(byAge: readonly TlsClaim[], oldest: TlsClaim): readonly IgnoredRules[] {
  const { authTlsSecret, authTlsPassCertificateToUpstream: pass } = authTls.annotations;
  const { host } = oldest.host;
  const ignoredRules = new Map<ObjectRef, IgnoredRules>();
  for (const { clients, owner } of byAge) {
    if (clients === undefined || owner === oldest.owner) continue;
    const isSame = oldest.clients !== undefined && asksAlike(clients, oldest.clients);
    if (isSame && clients.forward === oldest.clients?.forward) continue;
    const key = annotationKey(isSame ? pass : authTlsSecret);
    const why = `is ignored in handshakes for host ${host}, whose TLS belongs to ${formatRef(oldest.owner)}`;
    const message = isSame ? `${key}: ${why}` : `${key}: ${why}; HTTPS requests are answered 421`;
    ignoredRules.set(owner, { object: owner, field: keyField("metadata.annotations", key), message });
  }
  return [...ignoredRules.values()];
}

export const bucketOf = ({ kind }: HostPattern): TlsHost["bucket"] => (kind === "any" ? "default" : kind);

/**
 * Builds all server names of a port, with each certificate once. The previous value is returned again while the
 * server names and their certificates are equal, because serialising thousands of them costs more than
 * comparing them.
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
