/**
 * The certificate for names in ingress-nginx Ingresses that have no usable one and, if the operator enables it,
 * for unknown names. See docs/ingress-nginx.md, "Certificates".
 */
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { createLookup, type World } from "../../world.ts";
import { compareText } from "../age.ts";
import { readKeyPair } from "../certificates/tls-secret.ts";
import { memo } from "../incremental/memo.ts";
import { anyHost } from "../ingress/host.ts";
import type { TlsHostTable, TlsOffer } from "../ingress/tls-host-table.ts";
import { bucketOf } from "../ingress/tls.ts";

/** The name of the Secret in the install namespace. */
export const fallbackSecret = "svc-fallback-certificate";

type TlsHosts = SortedEntries<TlsHostTable, string>;

/** The certificate of the Secret, otherwise that of `otherwise`; undefined if neither can be used. */
export function fallbackOffer(
  world: World,
  namespace: string,
  otherwise: ObjectOf<"Secret"> | undefined,
): TlsOffer | undefined {
  const secret = createLookup(world)("Secret", namespace, fallbackSecret) ?? otherwise;
  return secret && offerOf(secret);
}

const offerOf = memo((secret: ObjectOf<"Secret">): TlsOffer | undefined => {
  const read = readKeyPair(secret);
  return read.ok ? { certificate: read.value, secret: refOf(secret) } : undefined;
});

/** The server names with their certificates, and whether any name needs the fallback. */
export type WithFallback = { readonly tlsHosts: TlsHosts; readonly isWanted: boolean };

/**
 * Adds the fallback certificate to names under `spec.tls` of ingress-nginx Ingresses that have no usable certificate
 * and are not covered by a wildcard or the default certificate. With `ofAll`, it applies to all other names as well.
 */
export function createFallback(
  ofAll: boolean,
): (names: TlsHosts, offer: TlsOffer | undefined) => WithFallback {
  const givenTo = memo<TlsOffer, WeakMap<TlsHostTable, TlsHostTable>>(() => new WeakMap());
  const unknownNames = memo((offer: TlsOffer) => withOffer(emptyTable, offer));
  const give = (table: TlsHostTable, offer: TlsOffer): TlsHostTable => {
    const known = givenTo(offer).get(table);
    if (known !== undefined) return known;
    const given = withOffer(table, offer);
    givenTo(offer).set(table, given);
    return given;
  };
  let last:
    | { readonly names: TlsHosts; readonly offer: TlsOffer | undefined; readonly result: WithFallback }
    | undefined;
  const build = (names: TlsHosts, offer: TlsOffer | undefined): WithFallback => {
    const served = new Set(names.values.flatMap(({ host, name }) => (host === undefined ? [] : name.host)));
    const hasDefault = served.has(anyHost.host);
    const needs = ({ host, name, claims }: TlsHostTable): boolean =>
      host === undefined &&
      !hasDefault &&
      !(name.kind === "exact" && served.has(name.host.replace(/^[^.]+/, "*"))) &&
      claims.some(({ fallsBack }) => fallsBack === true);
    const isForAll = ofAll && !hasDefault;
    const isWanted = isForAll || names.values.some(needs);
    if (!isWanted || offer === undefined) return { tlsHosts: names, isWanted };
    const values = names.values.map((table) =>
      needs(table) || (isForAll && table.name.kind === "any") ? give(table, offer) : table,
    );
    if (isForAll && !values.some(({ name }) => name.kind === "any")) values.push(unknownNames(offer));
    values.sort((a, b) => compareText(a.name.host, b.name.host));
    return { tlsHosts: { keys: values.map(({ name }) => name.host), values }, isWanted };
  };
  return (names, offer) => {
    if (last?.names !== names || last.offer !== offer) last = { names, offer, result: build(names, offer) };
    return last.result;
  };
}

const emptyTable: TlsHostTable = {
  name: anyHost,
  host: undefined,
  clients: undefined,
  used: [],
  claims: [],
  asks: false,
  byNamespace: new Map(),
  diagnostics: [],
  events: [],
};

const withOffer = (table: TlsHostTable, offer: TlsOffer): TlsHostTable => ({
  ...table,
  host: { bucket: bucketOf(table.name), host: table.name.host, certificates: [offer.certificate.id] },
  used: [offer],
});
