/**
 * Hosts whose TLS is passed through to their backends without being terminated. See docs/ingress-nginx.md, "TLS
 * passthrough".
 */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { L4Host } from "@svc-gateway/common/ir/l4.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { anchoredPattern } from "@svc-gateway/common/values/regex-literal.ts";
import { compareAges } from "../age.ts";
import { keyField } from "../diagnostics/define-finding.ts";
import { passthroughNotServed } from "../diagnostics/nginx-hosts.ts";
import type { Diagnostic } from "../finding.ts";
import { memo } from "../incremental/memo.ts";
import { isRest } from "../ingress/claims.ts";
import { belongsTo, type HostTable } from "../ingress/host-table.ts";

/** The entries of the HTTPS port below HTTP, and the findings about hosts that are not passed through. */
export type Passthrough = { readonly hosts: readonly L4Host[]; readonly diagnostics: readonly Diagnostic[] };

const nothing: Passthrough = { hosts: [], diagnostics: [] };

/** Finds the hosts to pass through. The result is the same value for the same tables. */
export const findPassthrough = memo((tables: readonly HostTable[]): Passthrough => {
  const wishing = tables.filter(({ claims }) => claims.some(({ nginx }) => nginx?.passthrough === true));
  if (wishing.length === 0) return nothing;
  const diagnostics: Diagnostic[] = [];
  const passed = wishing.flatMap((table): readonly L4Host[] => {
    const root = table.served.value.routes.find(isRoot);
    const granted =
      root !== undefined &&
      table.claims.some(
        (claim) => belongsTo(table, claim.owner.namespace) && claim.nginx?.passthrough === true,
      );
    const { host } = table.served;
    for (const { owner, nginx } of table.claims.toSorted((a, b) => compareAges(a.age, b.age))) {
      if (nginx?.passthrough !== true) continue;
      const why = belongsTo(table, owner.namespace)
        ? root === undefined && 'the host has no path "/", whose backend would get the connections'
        : `the host belongs to namespace ${table.owner?.namespace ?? ""}`;
      if (why === false) continue;
      const field = keyField("metadata.annotations", "ssl-passthrough");
      diagnostics.push(passthroughNotServed({ object: owner, field }, host.host, why));
    }
    if (!granted || host.kind === "any") return [];
    return [{ kind: host.kind, host: host.host, mode: "passthrough", route: routeOf(root) }];
  });
  return { hosts: [...passed, ...namesWithin(passed, tables)], diagnostics };
});

const rootPattern = anchoredPattern("/");

/** Whether an Ingress's route has the path `/`. The default backend of the whole gateway gets no connections. */
const isRoot = (route: Route): boolean => {
  const { source, match } = route;
  const { type, value } = match.path;
  return (
    value === (type === "regex" ? rootPattern : "/") &&
    type !== "exact" &&
    source.kind === "Ingress" &&
    !isRest(route)
  );
};

const routeOf = ({ id, source, backends }: Route): L4Host["route"] => ({
  backends: backends.map(({ weight, service, endpoints }) => ({
    ...(endpoints !== undefined && { endpoints }),
    service,
    weight,
  })),
  id,
  source,
});

/**
 * Narrower hosts below a wildcard whose TLS is passed through. Their TLS is not: as for requests, the narrowest
 * host of a name decides.
 */
function namesWithin(passed: readonly L4Host[], tables: readonly HostTable[]): readonly L4Host[] {
  const wildcards = passed.filter(({ kind }) => kind === "wildcard").map(({ host }) => host.slice(1));
  if (wildcards.length === 0) return [];
  const own = new Set(passed.map(({ host }) => host));
  const isWithin = ({ kind, host }: HostPattern): boolean =>
    kind !== "any" && !own.has(host) && wildcards.some((suffix) => host.endsWith(suffix));
  return tables.flatMap(({ served: { host } }): L4Host | [] =>
    isWithin(host) && host.kind !== "any" ? { kind: host.kind, host: host.host, mode: "http" } : [],
  );
}
