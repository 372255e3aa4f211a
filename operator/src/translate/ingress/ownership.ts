/**
 * Host ownership among Ingresses: removes claims to hosts and server names of other namespaces. See
 * docs/routing.md, "Who owns a host".
 */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { certificateConflict } from "../diagnostics/certificates.ts";
import type { Conflict, Diagnostic } from "../finding.ts";
import type { FindingsList } from "../incremental/findings-list.ts";
import { olderOf, type HostOwner, type HostOwners } from "../ownership.ts";
import { buildHostTable, type HostTable } from "./host-table.ts";
import type { TlsHostTable } from "./tls-host-table.ts";
import { buildTlsHost } from "./tls.ts";

type TlsHosts = SortedEntries<TlsHostTable, string>;

/** The tables with the findings about them. */
export type OwnedHosts = {
  readonly tables: readonly HostTable[];
  readonly conflicts: readonly Conflict[];
  readonly ofHosts: FindingsList;
  readonly tlsHosts: TlsHosts;
  readonly ofTlsHosts: FindingsList;
};

type Options = { readonly ports: readonly number[]; readonly lastResort: Route | undefined };

/** Returns the oldest Ingress that names a host. The tables are read on the first call. */
export function ownersOf(tables: readonly HostTable[]): HostOwners {
  let byHost: ReadonlyMap<string, HostOwner | undefined> | undefined;
  return (host) => {
    byHost ??= new Map(tables.map(({ served, owner }) => [served.host.host, owner]));
    return byHost.get(host);
  };
}

/**
 * Removes from every host the claims of namespaces other than that of its oldest Ingress or route: paths,
 * default backends and, for full host names, certificates and rules for client certificates. A table without
 * claims of another namespace keeps its identity.
 */
export function createOwnedHosts(): (
  tables: readonly HostTable[],
  tlsHosts: TlsHosts,
  routeOwners: HostOwners,
  options: Options,
) => OwnedHosts {
  const rebuilt = new WeakMap<
    HostTable,
    { readonly inputs: readonly unknown[]; readonly table: HostTable }
  >();
  const rebuild = (table: HostTable, owner: HostOwner, options: Options): HostTable => {
    const inputs = [owner.namespace, owner.object.kind, owner.object.name, options.lastResort];
    const known = rebuilt.get(table);
    if (known?.inputs.every((input, index) => input === inputs[index]) === true) return known.table;
    const next = buildHostTable(table.claims, { ...options, owner });
    rebuilt.set(table, { inputs, table: next });
    return next;
  };
  const reduced = new WeakMap<TlsHostTable, { readonly namespace: string; readonly left: LeftName }>();
  return (tables, tlsHosts, routeOwners, options) => {
    const owners = new Map<string, HostOwner>();
    const owned = tables.map((table) => {
      const { host } = table.served.host;
      const owner = olderOf(table.owner, routeOwners(host));
      if (owner !== undefined) owners.set(host, owner);
      const isShared = table.claims.some(
        (claim) => claim.owner.kind === "Ingress" && claim.owner.namespace !== owner?.namespace,
      );
      return owner === undefined || !isShared ? table : rebuild(table, owner, options);
    });
    const lost: Diagnostic[] = [];
    const names = tlsHosts.values.map((table) => {
      const { kind, host } = table.name;
      // The certificate of a wildcard is for names below it, which can have other owners.
      const owner = kind === "exact" ? (owners.get(host) ?? routeOwners(host)) : undefined;
      if (owner === undefined) return table;
      const known = reduced.get(table);
      const left = known?.namespace === owner.namespace ? known.left : leaveToOwner(table, owner);
      reduced.set(table, { namespace: owner.namespace, left });
      lost.push(...left.lost);
      return left.table;
    });
    const ofNames = findingsOf(names);
    return {
      tables: owned,
      conflicts: owned.flatMap(({ conflicts }) => conflicts),
      ofHosts: findingsOf(owned),
      tlsHosts: { keys: tlsHosts.keys, values: names },
      ofTlsHosts: { diagnostics: [...ofNames.diagnostics, ...lost], events: ofNames.events },
    };
  };
}

const findingsOf = (all: readonly FindingsList[]): FindingsList => ({
  diagnostics: all.flatMap(({ diagnostics }) => diagnostics),
  events: all.flatMap(({ events }) => events),
});

type LeftName = { readonly table: TlsHostTable; readonly lost: readonly Diagnostic[] };

/**
 * Removes the claims of other namespaces. Their certificates and rules do not apply to the name, and do not
 * enable TLS for it. Their rules for clients of their own routes still apply, so that a route is never opened
 * by being removed from a host.
 */
function leaveToOwner(table: TlsHostTable, owner: HostOwner): LeftName {
  const isForeign = (claim: TlsHostTable["claims"][number]): boolean =>
    claim.owner.kind === "Ingress" && claim.namespace !== owner.namespace;
  const foreign = table.claims.filter(isForeign);
  if (foreign.length === 0) return { table, lost: [] };
  const own = table.claims.filter((claim) => !isForeign(claim));
  const left = own.length === 0 ? { ...table, ...withoutTls } : buildTlsHost(own);
  const { asks, byNamespace, name } = table;
  return {
    table: { ...left, claims: own, asks, byNamespace },
    lost: foreign.map((claim) =>
      certificateConflict({ object: claim.owner, field: claim.field }, name.host, owner.object),
    ),
  };
}

const withoutTls = { host: undefined, clients: undefined, used: [], diagnostics: [], events: [] };
