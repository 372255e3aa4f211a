/**
 * Further names of hosts: aliases, which serve the same routes as the host, and the name with or without
 * `www.`, which is redirected to the host. See docs/ingress-nginx.md, "Further names".
 */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { findEntry, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { compareAges, compareText } from "../age.ts";
import { aliasTaken, nameNotYours } from "../diagnostics/nginx-hosts.ts";
import type { ObjectRef } from "../../api/object.ts";
import { keyField, type Place } from "../diagnostics/define-finding.ts";
import type { Diagnostic } from "../finding.ts";
import { haveSameItems, memo } from "../incremental/memo.ts";
import type { HostClaim } from "../ingress/claims.ts";
import { belongsTo, ingressListener, underName, type HostTable } from "../ingress/host-table.ts";
import { anyPath } from "../ingress/path.ts";
import type { TlsClaim, TlsHostTable, TlsOffer } from "../ingress/tls-host-table.ts";
import type { RedirectedName } from "./host-facts.ts";
import { namesOver } from "./hosts.ts";
import { joinHosts } from "./joined-host.ts";

type TlsHosts = SortedEntries<TlsHostTable, string>;

/** A further name that an Ingress requests for one of its hosts. */
type Wish = {
  readonly name: HostPattern;
  readonly annotation: string;
  readonly claim: HostClaim;
  readonly table: HostTable;
  /** The redirect to the host; undefined if the name is served. */
  readonly redirect: RedirectedName | undefined;
};

/** A granted wish. `others` are further hosts of the Ingress whose routes the name serves as well. */
type Granted = { readonly wish: Wish; readonly others: HostTable[] };

/**
 * The tables of all names, the certificates and client rules of further names, and the findings about refused ones.
 */
export type NamedHosts = {
  readonly tables: readonly HostTable[];
  readonly tlsHosts: TlsHosts;
  readonly diagnostics: readonly Diagnostic[];
};

/** Adds the further names to the hosts. Returns the same lists if there are none. */
export function createFurtherNames(
  ports: readonly number[],
): (tables: readonly HostTable[], tlsHosts: TlsHosts) => NamedHosts {
  type Built = { readonly others: readonly HostTable[]; readonly output: HostTable };
  const built = new WeakMap<HostTable, Map<string, Built>>();
  const tableOf = ({ wish, others }: Granted): HostTable => {
    const { name, table, redirect, claim } = wish;
    const key = `${name.host} ${claim.owner.namespace ?? ""}/${claim.owner.name} ${JSON.stringify(redirect)}`;
    const known = built.get(table)?.get(key);
    if (known !== undefined && haveSameItems(known.others, others)) return known.output;
    const value = redirect === undefined ? joinHosts(table, others, name) : redirectingHost(wish, redirect);
    const output = underName(table, ports, name, value);
    built.set(table, (built.get(table) ?? new Map<string, Built>()).set(key, { others, output }));
    return output;
  };
  return (tables, tlsHosts) => {
    const { wishes, refused } = wishesOf(tables);
    if (wishes.length === 0) return { tables, tlsHosts, diagnostics: refused };
    const ruled = new Map(tables.map(({ served, owner }) => [served.host.host, owner]));
    const granted = new Map<string, Granted>();
    const diagnostics: Diagnostic[] = [...refused];
    for (const wish of wishes) {
      const { name, claim } = wish;
      const winner = granted.get(name.host);
      if (winner?.wish.claim.owner === claim.owner) {
        if ((winner.wish.redirect ?? wish.redirect) === undefined) winner.others.push(wish.table);
        continue;
      }
      const holder = ruled.has(name.host) ? ruled.get(name.host)?.object : winner?.wish.claim.owner;
      if (holder === undefined && !ruled.has(name.host)) granted.set(name.host, { wish, others: [] });
      else diagnostics.push(aliasTaken(placeOf(wish), name.host, holder));
    }
    const added = [...granted.values()];
    return {
      tables: [...tables, ...added.map(tableOf)].sort((a, b) =>
        compareText(a.served.host.host, b.served.host.host),
      ),
      tlsHosts: addNames(
        tlsHosts,
        added.flatMap(({ wish, others }) => [wish, ...others.map((table) => ({ ...wish, table }))]),
      ),
      diagnostics,
    };
  };
}

type Wishes = { readonly wishes: readonly Wish[]; readonly refused: readonly Diagnostic[] };

const nothing: Wishes = { wishes: [], refused: [] };

/** All wishes of Ingresses, those of older ones first, and the findings about refused ones. */
const wishesOf = memo((tables: readonly HostTable[]): Wishes => {
  const found = tables.map(wishesOfHost).filter((one) => one !== nothing);
  if (found.length === 0) return nothing;
  const holderOf = holdersBelow(tables);
  const all = found.flatMap(({ wishes }) => wishes);
  return {
    wishes: all
      .filter((wish) => holderOf(wish) === undefined)
      .sort(
        (a, b) =>
          compareAges(a.claim.age, b.claim.age) ||
          compareText(a.table.served.host.host, b.table.served.host.host),
      ),
    refused: [
      ...found.flatMap(({ refused }) => refused),
      ...all.flatMap((wish) => {
        const holder = holderOf(wish);
        return holder === undefined ? [] : [aliasTaken(placeOf(wish), wish.name.host, holder)];
      }),
    ],
  };
});

/**
 * Returns the owner of the host above a wildcard if that host belongs to another namespace, because the
 * wildcard then belongs to it as well.
 */
function holdersBelow(tables: readonly HostTable[]): (wish: Wish) => ObjectRef | undefined {
  const byHost = new Map(tables.map((table) => [table.served.host.host, table]));
  return ({ name, claim }) => {
    if (name.kind !== "wildcard") return undefined;
    for (let at = name.host.indexOf("."); at !== -1; at = name.host.indexOf(".", at + 1)) {
      const above = byHost.get(name.host.slice(at + 1));
      if (above?.owner !== undefined) {
        return belongsTo(above, claim.owner.namespace) ? undefined : above.owner.object;
      }
    }
    return undefined;
  };
}

const placeOf = ({ claim, annotation }: Wish): Place => ({
  object: claim.owner,
  field: keyField("metadata.annotations", annotation),
});

/**
 * The wishes for one host. Everything of a host is served under its further names, so only the namespace that
 * owns the host may request them.
 */
function wishesOfHost(table: HostTable): Wishes {
  if (!table.claims.some(({ nginx }) => nginx?.aliases ?? nginx?.www)) return nothing;
  const byAge = table.claims.toSorted((a, b) => compareAges(a.age, b.age));
  // A host that only default backends serve has no owner, so all of its Ingresses decide.
  const decides = ({ owner }: HostClaim): boolean =>
    table.owner === undefined || belongsTo(table, owner.namespace);
  const deciding = byAge.filter(decides);
  return {
    wishes: [...aliasesOf(table, deciding), ...wwwOf(table, deciding)],
    refused: byAge.flatMap((claim) => (decides(claim) ? [] : refusedOf(table, claim))),
  };
}

function aliasesOf(table: HostTable, byAge: readonly HostClaim[]): readonly Wish[] {
  const claim = byAge.find(({ nginx }) => nginx?.aliases !== undefined);
  return (claim?.nginx?.aliases ?? []).flatMap((name): readonly Wish[] =>
    claim === undefined || name.host === table.served.host.host
      ? []
      : [{ name, annotation: "server-alias", claim, table, redirect: undefined }],
  );
}

function wwwOf(table: HostTable, byAge: readonly HostClaim[]): readonly Wish[] {
  const { kind, host } = table.served.host;
  const claim = kind === "exact" ? byAge.find(({ nginx }) => nginx?.www !== undefined) : undefined;
  if (claim === undefined) return [];
  const other = host.startsWith("www.") ? host.slice("www.".length) : `www.${host}`;
  return [
    {
      name: { kind: "exact", host: other },
      annotation: "from-to-www-redirect",
      claim,
      table,
      redirect: claim.nginx?.www,
    },
  ];
}

/** Findings about names that an Ingress requests and does not get, because another namespace owns the host. */
const refusedOf = (
  { owner, served }: HostTable,
  { nginx, owner: object }: HostClaim,
): readonly Diagnostic[] =>
  [
    ...((nginx?.aliases ?? []).length > 0 ? ["server-alias"] : []),
    ...(nginx?.www === undefined || served.host.kind !== "exact" ? [] : ["from-to-www-redirect"]),
  ].map((annotation) =>
    nameNotYours(
      { object, field: keyField("metadata.annotations", annotation) },
      annotation,
      served.host.host,
      owner?.namespace ?? "",
    ),
  );

function redirectingHost({ table, claim }: Wish, redirect: RedirectedName): HostTable["served"]["value"] {
  const { host } = table.served.host;
  const { owner, age } = claim;
  return {
    inherit: false,
    listener: ingressListener,
    routes: [
      {
        backends: [],
        features: { redirect: { ...redirect, early: true, hostname: host } },
        id: `ingress/${age.key}:www`,
        match: { path: anyPath },
        source: { kind: "Ingress", name: owner.name, namespace: owner.namespace ?? "" },
      },
    ],
  };
}

/**
 * Adds the further names to the server names. A name without a certificate of its own is shown those of its host that are
 * valid for it; if there are none and its host has TLS, the default or the fallback certificate. An alias requests the client
 * certificates of its host, whichever certificate it is shown; if its hosts have different rules, it requests those of the
 * first host, or of another one whose requests are refused over HTTP.
 */
function addNames(tlsHosts: TlsHosts, wishes: readonly Wish[]): TlsHosts {
  const named = new Map<string, TlsHostTable>();
  for (const [host, same] of Map.groupBy(wishes, ({ name }) => name.host)) {
    const own = findEntry(tlsHosts, host);
    const [wish] = same;
    if (wish === undefined || own?.clients !== undefined) continue;
    const sources = same.map(({ table }) => sourceOf(tlsHosts, table.served.host));
    const clients = wish.redirect === undefined ? rulesOf(sources) : undefined;
    if (own === undefined) {
      const claims = same.flatMap(({ table }) => fallingBack(tlsHosts, table.served.host));
      const table = tableOfName(wish.name, sources, clients, claims);
      if (table.host !== undefined || clients !== undefined || claims.length > 0) named.set(host, table);
    } else if (clients !== undefined) named.set(host, { ...own, clients });
  }
  if (named.size === 0) return tlsHosts;
  const all = [...tlsHosts.values.filter(({ name }) => !named.has(name.host)), ...named.values()].sort(
    (a, b) => compareText(a.name.host, b.name.host),
  );
  return { keys: all.map(({ name }) => name.host), values: all };
}

/** Returns the table that decides about handshakes for a host: its own one, or that of the wildcard over it. */
function sourceOf(tlsHosts: TlsHosts, host: HostPattern): TlsHostTable | undefined {
  return namesOver(host)
    .flatMap((name) => findEntry(tlsHosts, name) ?? [])
    .find((one) => one.host !== undefined || one.clients !== undefined);
}

/** Returns the claims that give a host TLS even without a certificate for it: on its own name, or on the wildcard over it. */
const fallingBack = (tlsHosts: TlsHosts, host: HostPattern): readonly TlsClaim[] =>
  namesOver(host).flatMap(
    (name) => findEntry(tlsHosts, name)?.claims.filter(({ fallsBack }) => fallsBack === true) ?? [],
  );

/** Returns the rules for clients of an alias; rules that refuse handshakes must be those of its first host. */
function rulesOf(sources: readonly (TlsHostTable | undefined)[]): TlsHostTable["clients"] {
  const [first] = sources;
  return first?.clients ?? sources.find((source) => source?.clients?.rules.byRequest !== undefined)?.clients;
}

/**
 * The table of a further name: with the certificates of the first source that has any for it, the rules for clients, and
 * the claims of its hosts by which it is shown the fallback certificate if it has none.
 */
function tableOfName(
  name: HostPattern,
  sources: readonly (TlsHostTable | undefined)[],
  clients: TlsHostTable["clients"],
  claims: readonly TlsClaim[],
): TlsHostTable {
  const covers = ({ certificate }: TlsOffer): boolean => certificate.covers(name);
  const source = sources.find((one) => one?.used.some(covers));
  const used = source?.used.filter(covers) ?? [];
  const ids = new Set(used.map(({ certificate }) => certificate.id));
  return {
    name,
    host: source?.host && {
      bucket: name.kind === "wildcard" ? "wildcard" : "exact",
      host: name.host,
      certificates: source.host.certificates.filter((id) => ids.has(id)),
    },
    clients,
    used,
    claims,
    asks: false,
    byNamespace: new Map(),
    diagnostics: [],
    events: [],
  };
}
