/**
 * Ingresses whose `spec.tls` redirects the paths of other namespaces to https. As in ingress-nginx, TLS applies
 * to the whole host. See docs/ingress-nginx.md, "https".
 */
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import { compareAges, compareText } from "../age.ts";
import { tlsForOthers } from "../diagnostics/nginx-hosts.ts";
import type { Diagnostic } from "../finding.ts";
import { memo2 } from "../incremental/memo.ts";
import { belongsTo, type HostTable } from "../ingress/host-table.ts";
import type { TlsHostTable } from "../ingress/tls-host-table.ts";
import { dependentOf, isOfIngress, namesOver } from "./hosts.ts";

type TlsHosts = SortedEntries<TlsHostTable, string>;

/**
 * Reports the oldest Ingress that lists a host under `spec.tls`, if no Ingress of the namespace that owns the
 * host does, and if paths of other namespaces are redirected because of it. The tables must be those without
 * the features that depend on their host.
 */
export const findTlsForOthers = memo2(
  (tables: readonly HostTable[], tlsHosts: TlsHosts): readonly Diagnostic[] =>
    tables.flatMap((table) => {
      if (dependentOf(table).size === 0) return [];
      const claims = namesOver(table.served.host)
        .flatMap((name) => findEntry(tlsHosts, name)?.claims.filter(isOfIngress) ?? [])
        .toSorted((a, b) => compareAges(a.age, b.age));
      const [first] = claims;
      if (first === undefined || claims.some(({ namespace }) => belongsTo(table, namespace))) return [];
      // Namespaces that list the host themselves expect the redirect.
      const listing = new Set(claims.map(({ namespace }) => namespace));
      const redirected = redirectedByTls(table).filter((namespace) => !listing.has(namespace));
      if (redirected.length === 0) return [];
      const { host } = table.served.host;
      return [
        tlsForOthers(
          { object: first.owner, field: first.field },
          host,
          redirected.toSorted(compareText),
          first.clients && (first.clients.authorities === undefined ? "none" : "asked"),
        ),
      ];
    }),
);

/** The namespaces with paths that are redirected only because the host has TLS. */
function redirectedByTls(table: HostTable): readonly string[] {
  const dependent = dependentOf(table);
  const ownerNamespace = table.owner?.namespace;
  return [
    ...new Set(
      table.served.value.routes.flatMap(({ id, source }) => {
        const featuresOn = dependent.get(id);
        const isRedirected = (hasTls: boolean): boolean =>
          featuresOn?.({ hasTls, ownerNamespace })?.["ssl-redirect"] !== undefined;
        return isRedirected(true) && !isRedirected(false) ? [source.namespace] : [];
      }),
    ),
  ];
}
