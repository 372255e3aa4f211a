import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { PortTable } from "../exchange/port-table.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import type { Steps } from "../timing/steps.ts";
import { isOverspent, startLookup } from "./regex-budget.ts";
import { ChangingHostIndex, HostChanges, tablesOf, type PortHosts } from "./host-index.ts";
import type { HostTable } from "./host-table.ts";

/** A port table that exposes its hosts, so that its lookups can be explained. */
export type OpenPortTable = PortTable & { readonly hosts: PortHosts };

/** The numbers of all hosts, and of those with each setting. While a number is 0, requests skip the search for it. */
class HostCounts {
  all = 0;
  withPathLevel = 0;
  withFilters = 0;
  withClients = 0;

  /** Adds a host, or removes it if `by` is -1. */
  count({ pathLevel, filters, clients }: HostTable, by: 1 | -1): void {
    this.all += by;
    if (pathLevel !== "base") this.withPathLevel += by;
    if (filters !== undefined) this.withFilters += by;
    if (clients !== undefined) this.withClients += by;
  }

  add({ all, withPathLevel, withFilters, withClients }: HostCounts): void {
    this.all += all;
    this.withPathLevel += withPathLevel;
    this.withFilters += withFilters;
    this.withClients += withClients;
  }
}

/**
 * A port's routes, changed in place between two requests. The most specific host decides. If it has no matching route,
 * there is none, unless its listener passes requests on to its own less specific hosts (docs/routing.md, "Hosts").
 */
export class ChangingPortTable implements OpenPortTable {
  readonly hosts = { gateway: new ChangingHostIndex(), ingress: new ChangingHostIndex() };
  private readonly counts = new HostCounts();

  get isEmpty(): boolean {
    return this.counts.all === 0;
  }

  /**
   * Puts changes into effect for all requests from now on, in constant time. `settle` must then be called before other
   * changes can follow.
   */
  switchTo(changes: PortChanges): void {
    for (const group of ["gateway", "ingress"] as const) this.hosts[group].switchTo(changes.hosts[group]);
    this.counts.add(changes.counts);
  }

  /** Merges the changes into the store of all hosts. */
  *settle(): Steps<void> {
    for (const group of ["gateway", "ingress"] as const) yield* this.hosts[group].settle();
  }

  pathLevel(host: string): PathLevel {
    return this.counts.withPathLevel === 0 ? "base" : (ownerOf(this.hosts, host)?.pathLevel ?? "base");
  }

  get filtersOf(): PortTable["filtersOf"] {
    return this.counts.withFilters === 0 ? undefined : (host) => ownerOf(this.hosts, host)?.filters?.compiled;
  }

  get clientRulesOf(): PortTable["clientRulesOf"] {
    return this.counts.withClients === 0 ? undefined : (host) => ownerOf(this.hosts, host)?.clients;
  }

  match(query: RouteQuery): CompiledRoute | undefined {
    const { hosts } = this;
    startLookup();
    // Nearly every request ends here, without the search.
    const exact = hosts.gateway.exactOf(query.host) ?? hosts.ingress.exactOf(query.host);
    const found = exact?.match(query);
    if (found !== undefined || exact?.inherit === false || isOverspent()) return found;
    let listener: string | undefined;
    for (const table of tablesOf(hosts, query.host)) {
      if (listener !== undefined && table.listener !== listener) continue;
      const route = table.match(query);
      if (route !== undefined || !table.inherit || isOverspent()) return route;
      listener = table.listener;
    }
    return undefined;
  }

  isMisdirected(serverName: string, host: string): boolean {
    const wanted = ownerOf(this.hosts, host);
    return wanted?.group === "gateway" && ownerOf(this.hosts, serverName)?.listener !== wanted.listener;
  }

  groupOf(host: string): RouteGroup | undefined {
    const owner = ownerOf(this.hosts, host);
    return owner === undefined || owner.host.kind === "any" ? undefined : owner.group;
  }
}

/** Changes of a port table, which have no effect until the table is switched to them. */
export class PortChanges {
  readonly hosts = { gateway: new HostChanges(), ingress: new HostChanges() };
  /** The differences of the table's numbers. */
  readonly counts = new HostCounts();
  private readonly table: ChangingPortTable;

  /** `table` must have been settled, and must not be changed until it is switched to these changes. */
  constructor(table: ChangingPortTable) {
    this.table = table;
  }

  /** Changes a host, once; undefined removes it. */
  set(group: RouteGroup, host: HostPattern, table: HostTable | undefined): void {
    const previous = this.table.hosts[group].get(host);
    this.hosts[group].set(host, table);
    if (table !== undefined) this.counts.count(table, 1);
    if (previous !== undefined) this.counts.count(previous, -1);
  }
}

/** Returns the table of the most specific host, which is the one that decides (docs/routing.md, "Hosts"). */
function ownerOf(hosts: PortHosts, host: string): HostTable | undefined {
  for (const table of tablesOf(hosts, host)) return table;
  return undefined;
}

/** The table of a port without routes, on which every request gets 404. */
export const emptyPortTable: OpenPortTable = new ChangingPortTable();
