/** The rules for client certificates on routes of Ingresses. See docs/features/auth-tls.md, "Whose rules hold". */
import { isDeepStrictEqual } from "node:util";
import type { ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { sha256Hex } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { findEntry, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { nameOf, type ObjectRef } from "../../api/object.ts";
import type { AuthTls } from "../features/auth-tls.ts";
import { haveSameItems, memo } from "../incremental/memo.ts";
import { withRoutes, type HostTable } from "./host-table.ts";
import { anyHost } from "./host.ts";
import type { TlsHostTable } from "./tls-host-table.ts";

/** The rules of an Ingress in the form that routes contain. */
export function clientRulesOf(owner: ObjectRef, clients: AuthTls): ClientRules {
  const id = authoritiesIdOf(clients);
  return {
    owner: ownerOf(owner),
    ...(id !== undefined && { authorities: id }),
    maxIntermediates: clients.maxIntermediates,
    ...(clients.byRequest && { byRequest: clients.byRequest }),
  };
}

/** The name of an Ingress as the owner of rules. */
export const ownerOf = (owner: ObjectRef): string => `ingress/${nameOf(owner)}`;

/** The id of the authorities in the resource of a port; undefined if there are none. */
export const authoritiesIdOf = memo(({ authorities }: AuthTls) =>
  authorities === undefined ? undefined : sha256Hex(authorities),
);

/** Whether two sets of rules are equivalent, so that a client verified by one is also verified by the other. */
export const asksAlike = (a: AuthTls, b: AuthTls): boolean =>
  a.authorities === b.authorities &&
  a.maxIntermediates === b.maxIntermediates &&
  isDeepStrictEqual(a.byRequest, b.byRequest);

type TlsHosts = SortedEntries<TlsHostTable, string>;

/**
 * Adds the rules for clients of each host and each route to the tables of hosts. The most specific server name
 * with a certificate or rules decides, as in handshakes. In addition, a route keeps the rules that the
 * Ingresses of its own namespace set for its host: another namespace cannot remove them by listing the host, or
 * a narrower one, itself.
 */
export function createClientRuleSetter(
  ports: readonly number[],
): (tables: readonly HostTable[], tlsHosts: TlsHosts) => readonly HostTable[] {
  type Known = { readonly covering: readonly TlsHostTable[]; readonly output: HostTable };
  const known = new WeakMap<HostTable, Known>();
  const askingOf = memo(
    ({ values }: TlsHosts) => new Set(values.filter(({ asks }) => asks).map(({ name }) => name.host)),
  );
  const withRules = (table: HostTable, tlsHosts: TlsHosts): HostTable => {
    const covering = namesOver(table.served.host).flatMap((name) => findEntry(tlsHosts, name) ?? []);
    const last = known.get(table);
    if (last !== undefined && haveSameItems(last.covering, covering)) return last.output;
    const output = withRoutes(table, ports, (value) => setRules(value, covering));
    known.set(table, { covering, output });
    return output;
  };
  let last: { readonly inputs: readonly unknown[]; readonly output: readonly HostTable[] } | undefined;
  return (tables, tlsHosts) => {
    const dependent = askingOf(tlsHosts);
    if (dependent.size === 0) return tables;
    const inputs = [tables, tlsHosts];
    if (last !== undefined && haveSameItems(last.inputs, inputs)) return last.output;
    const output = tables.map((table) =>
      namesOver(table.served.host).some((name) => dependent.has(name)) ? withRules(table, tlsHosts) : table,
    );
    last = { inputs, output };
    return output;
  };
}

/** The server names whose certificates can be presented for a host, most specific first (docs/features/tls.md). */
function namesOver({ kind, host }: HostPattern): readonly string[] {
  if (kind === "any") return [host];
  return kind === "wildcard"
    ? [host, anyHost.host]
    : [host, `*${host.slice(Math.max(0, host.indexOf(".")))}`, anyHost.host];
}

function setRules(value: HostRoutes, covering: readonly TlsHostTable[]): HostRoutes {
  const decisive = covering.find(({ host, clients }) => host !== undefined || clients !== undefined);
  const ofHost = decisive?.clients && {
    ...clientRulesOf(decisive.clients.owner, decisive.clients.rules),
    ...(decisive.clients.rules.forward && { forward: true as const }),
  };
  const byNamespace = new Map<string, ClientRules | undefined>();
  const ofNamespace = (namespace: string): ClientRules | undefined => {
    if (!byNamespace.has(namespace)) byNamespace.set(namespace, rulesWithin(namespace, covering));
    return byNamespace.get(namespace);
  };
  const routes = value.routes.map((route): Route => {
    const clients = route.clients ?? ofNamespace(route.source.namespace);
    return clients === undefined || clients === route.clients ? route : { ...route, clients };
  });
  return { ...value, ...(ofHost && { clients: ofHost }), routes };
}

/** The rules that a host would have if only the Ingresses of this namespace listed it. */
function rulesWithin(namespace: string, covering: readonly TlsHostTable[]): ClientRules | undefined {
  for (const { byNamespace } of covering) {
    const own = byNamespace.get(namespace);
    if (own === undefined || (!own.offers && own.clients === undefined)) continue;
    return own.clients && clientRulesOf(own.clients.owner, own.clients.rules);
  }
  return undefined;
}
