import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { PortTable } from "../exchange/port-table.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { isOverspent, startLookup } from "./regex-budget.ts";
import { ChangingHostIndex, tablesOf, type PortHosts } from "./host-index.ts";
import type { HostTable } from "./host-table.ts";

/** A port table that can be explained, because it shows its hosts. */
export type OpenPortTable = PortTable & { readonly hosts: PortHosts };

/**
 * A port's routes, changed in place between two requests. The most specific host decides: without a matching route there
 * the answer is "none", unless its listener passes requests on to its own less specific hosts (docs/routing.md, "Hosts").
 */
export class ChangingPortTable implements OpenPortTable {
  readonly hosts = { gateway: new ChangingHostIndex(), ingress: new ChangingHostIndex() };
  /** The numbers of hosts with such a setting: while one is 0, requests skip the search for it. */
  private withPathLevel = 0;
  private withFilters = 0;
  private withClients = 0;

  get isEmpty(): boolean {
    return this.hosts.gateway.isEmpty && this.hosts.ingress.isEmpty;
  }

  /** Sets the table of a host; undefined removes it. */
  set(group: RouteGroup, host: HostPattern, table: HostTable | undefined): void {
    const previous = this.hosts[group].set(host, table);
    this.withPathLevel += Number(hasPathLevel(table)) - Number(hasPathLevel(previous));
    this.withFilters += Number(table?.filters !== undefined) - Number(previous?.filters !== undefined);
    this.withClients += Number(table?.clients !== undefined) - Number(previous?.clients !== undefined);
  }

  pathLevel(host: string): PathLevel {
    return this.withPathLevel === 0 ? "base" : (ownerOf(this.hosts, host)?.pathLevel ?? "base");
  }

  get filtersOf(): PortTable["filtersOf"] {
    return this.withFilters === 0 ? undefined : (host) => ownerOf(this.hosts, host)?.filters?.compiled;
  }

  get clientRulesOf(): PortTable["clientRulesOf"] {
    return this.withClients === 0 ? undefined : (host) => ownerOf(this.hosts, host)?.clients;
  }

  match(query: RouteQuery): CompiledRoute | undefined {
    const { hosts } = this;
    startLookup();
    // Nearly every request ends here, without the search.
    const exact = hosts.gateway.exact.get(query.host) ?? hosts.ingress.exact.get(query.host);
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

const hasPathLevel = (table: HostTable | undefined): boolean =>
  table !== undefined && table.pathLevel !== "base";

/** The table of the most specific host, which is the one that decides (docs/routing.md, "Hosts"). */
function ownerOf(hosts: PortHosts, host: string): HostTable | undefined {
  for (const table of tablesOf(hosts, host)) return table;
  return undefined;
}

/** A port without routes: every request is answered 404. */
export const emptyPortTable: OpenPortTable = new ChangingPortTable();
