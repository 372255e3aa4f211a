import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { HostTable } from "./host-table.ts";

/** The host tables of one port and route group, by pattern. */
export type HostIndex = {
  readonly exact: ReadonlyMap<string, HostTable>;
  /** By what follows the `*`: `.example.com`. */
  readonly wildcard: ReadonlyMap<string, HostTable>;
  readonly any: HostTable | undefined;
};

export type PortHosts = { readonly gateway: HostIndex; readonly ingress: HostIndex };

export const emptyHostIndex: HostIndex = { exact: new Map(), wildcard: new Map(), any: undefined };

/** What changes in a host index: the table of a pattern, or its removal. */
export type HostChange = { readonly host: HostPattern; readonly table: HostTable | undefined };

/** A host index with changes; the given one stays as it is. */
export function changeHosts(index: HostIndex, changes: readonly HostChange[]): HostIndex {
  const changed = (kind: "exact" | "wildcard"): ReadonlyMap<string, HostTable> => {
    const relevant = changes.filter(({ host }) => host.kind === kind);
    if (relevant.length === 0) return index[kind];
    const tables = new Map(index[kind]);
    for (const { host, table } of relevant) {
      const key = kind === "exact" ? host.host : host.host.slice(1);
      if (table === undefined) tables.delete(key);
      else tables.set(key, table);
    }
    return tables;
  };
  const any = changes.findLast(({ host }) => host.kind === "any");
  return {
    exact: changed("exact"),
    wildcard: changed("wildcard"),
    any: any === undefined ? index.any : any.table,
  };
}

const DOT = 0x2e;

/**
 * The tables whose pattern covers a host, the most specific first, at equal specificity Gateway API before Ingress. A
 * wildcard stands for one label in an Ingress and for one or more labels in the Gateway API (docs/routing.md).
 */
export function* tablesOf({ gateway, ingress }: PortHosts, host: string): Generator<HostTable, void> {
  const gatewayExact = gateway.exact.get(host);
  if (gatewayExact !== undefined) yield gatewayExact;
  const ingressExact = ingress.exact.get(host);
  if (ingressExact !== undefined) yield ingressExact;
  if ((gateway.wildcard.size > 0 || ingress.wildcard.size > 0) && host.charCodeAt(0) !== DOT) {
    const first = host.indexOf(".");
    for (let dot = first; dot >= 0; dot = host.indexOf(".", dot + 1)) {
      const suffix = host.slice(dot);
      const gatewayWildcard = gateway.wildcard.get(suffix);
      if (gatewayWildcard !== undefined) yield gatewayWildcard;
      const ingressWildcard = dot === first ? ingress.wildcard.get(suffix) : undefined;
      if (ingressWildcard !== undefined) yield ingressWildcard;
    }
  }
  if (gateway.any !== undefined) yield gateway.any;
  if (ingress.any !== undefined) yield ingress.any;
}
