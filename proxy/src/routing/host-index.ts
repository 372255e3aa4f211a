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

/**
 * A host index that is changed in place: of ten thousand hosts a copy for each change would be half a megabyte of garbage.
 */
export class ChangingHostIndex implements HostIndex {
  readonly exact = new Map<string, HostTable>();
  readonly wildcard = new Map<string, HostTable>();
  any: HostTable | undefined = undefined;

  get isEmpty(): boolean {
    return this.exact.size === 0 && this.wildcard.size === 0 && this.any === undefined;
  }

  /** Sets the table of a host, or removes it; returns the previous one. */
  set({ kind, host }: HostPattern, table: HostTable | undefined): HostTable | undefined {
    if (kind === "any") {
      const previous = this.any;
      this.any = table;
      return previous;
    }
    const tables = this[kind];
    const key = kind === "exact" ? host : host.slice(1);
    const previous = tables.get(key);
    if (table === undefined) tables.delete(key);
    else tables.set(key, table);
    return previous;
  }
}

const DOT = 0x2e;

/**
 * The tables whose pattern covers a host, the most specific first, at equal specificity Gateway API before Ingress. A
 * wildcard covers one label in an Ingress and one or more labels in the Gateway API (docs/routing.md).
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
