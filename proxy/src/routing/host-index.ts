import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { forEachInSteps, type Steps } from "../timing/steps.ts";
import type { HostTable } from "./host-table.ts";

/** The host tables of one port and route group, by pattern. */
export type HostIndex = {
  exactOf(host: string): HostTable | undefined;
  /** Returns the table of a wildcard host by the text after `*`, such as `.example.com`. */
  wildcardOf(suffix: string): HostTable | undefined;
  /** Whether `wildcardOf` can find a table. */
  readonly hasWildcards: boolean;
  readonly any: HostTable | undefined;
};

export type PortHosts = { readonly gateway: HostIndex; readonly ingress: HostIndex };

/** Changed hosts of one index; undefined for removed ones. */
export class HostChanges {
  readonly exact = new Map<string, HostTable | undefined>();
  readonly wildcard = new Map<string, HostTable | undefined>();
  /** The change of the table for every host; undefined if that is unchanged. */
  any: { readonly table: HostTable | undefined } | undefined = undefined;

  set({ kind, host }: HostPattern, table: HostTable | undefined): void {
    if (kind === "any") this.any = { table };
    else this[kind].set(kind === "exact" ? host : host.slice(1), table);
  }
}

/**
 * A host index that is changed in place, because a copy of ten thousand hosts for each change would be half a megabyte
 * of garbage. Any number of changes take effect at the same moment, and are then merged into the maps in steps, between
 * requests.
 */
export class ChangingHostIndex implements HostIndex {
  private readonly exact = new Map<string, HostTable>();
  private readonly wildcard = new Map<string, HostTable>();
  any: HostTable | undefined = undefined;
  /** Changes that are in effect but not yet merged into the maps. */
  private changes: HostChanges | undefined = undefined;

  exactOf(host: string): HostTable | undefined {
    const { changes } = this;
    return changes?.exact.has(host) === true ? changes.exact.get(host) : this.exact.get(host);
  }

  wildcardOf(suffix: string): HostTable | undefined {
    const { changes } = this;
    return changes?.wildcard.has(suffix) === true ? changes.wildcard.get(suffix) : this.wildcard.get(suffix);
  }

  get hasWildcards(): boolean {
    return this.wildcard.size > 0 || (this.changes !== undefined && this.changes.wildcard.size > 0);
  }

  /** Returns the current table of a pattern. */
  get({ kind, host }: HostPattern): HostTable | undefined {
    if (kind === "any") return this.any;
    return kind === "exact" ? this.exactOf(host) : this.wildcardOf(host.slice(1));
  }

  /** Puts changes into effect. `settle` must then be called before others can follow. */
  switchTo(changes: HostChanges): void {
    this.changes = changes;
    if (changes.any !== undefined) this.any = changes.any.table;
  }

  /** Merges the changes into the maps. */
  *settle(): Steps<void> {
    const { changes } = this;
    if (changes === undefined) return;
    for (const kind of ["exact", "wildcard"] as const) {
      yield* forEachInSteps(changes[kind], ([key, table]) => {
        if (table === undefined) this[kind].delete(key);
        else this[kind].set(key, table);
      });
    }
    this.changes = undefined;
  }
}

const DOT = 0x2e;

/**
 * Yields the tables whose pattern covers a host, the most specific first and, at equal specificity, Gateway API before
 * Ingress. A wildcard covers one label in an Ingress and one or more labels in the Gateway API (docs/routing.md).
 */
export function* tablesOf({ gateway, ingress }: PortHosts, host: string): Generator<HostTable, void> {
  const gatewayExact = gateway.exactOf(host);
  if (gatewayExact !== undefined) yield gatewayExact;
  const ingressExact = ingress.exactOf(host);
  if (ingressExact !== undefined) yield ingressExact;
  if ((gateway.hasWildcards || ingress.hasWildcards) && host.charCodeAt(0) !== DOT) {
    const first = host.indexOf(".");
    for (let dot = first; dot >= 0; dot = host.indexOf(".", dot + 1)) {
      const suffix = host.slice(dot);
      const gatewayWildcard = gateway.wildcardOf(suffix);
      if (gatewayWildcard !== undefined) yield gatewayWildcard;
      const ingressWildcard = dot === first ? ingress.wildcardOf(suffix) : undefined;
      if (ingressWildcard !== undefined) yield ingressWildcard;
    }
  }
  const gatewayAny = gateway.any;
  if (gatewayAny !== undefined) yield gatewayAny;
  const ingressAny = ingress.any;
  if (ingressAny !== undefined) yield ingressAny;
}
