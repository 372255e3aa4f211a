import type { L4Host, L4Port, L4Route } from "@svc-gateway/common/ir/l4.ts";
import { createWeightedPicker } from "../routing/weighted-picker.ts";
import { passThrough } from "../upstream/upstream-registry.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** A route that was prepared when a snapshot was applied. */
export type CompiledL4Route = {
  readonly route: L4Route;
  /** Picks the upstream of the next connection or session by weight; undefined if it must be refused. Never throws. */
  pickUpstream(): Upstream | undefined;
};

export type L4Entry = {
  readonly host: string;
  readonly mode: L4Host["mode"];
  /** The route; if undefined, connections are refused. */
  readonly route: CompiledL4Route | undefined;
};

/** The routes below HTTP of one port. Immutable; a change creates a new table. */
export type L4Table = {
  /**
   * Finds the entry of the most specific host that covers a lower-case server name. The empty name is covered only by
   * the entry for every host.
   */
  find(serverName: string): L4Entry | undefined;
  readonly routeIds: ReadonlySet<string>;
  /** Endpoint sets that the routes name. */
  readonly endpoints: ReadonlySet<string>;
};

export type L4Environment = {
  /** Returns a link to the current upstream of an endpoint set; `identity` is as for `UpstreamRegistry.get`. */
  readonly upstreamOf: (endpoints: string, identity: string | undefined) => () => Upstream;
  /** Returns a number from 0 to 1, 1 excluded. */
  readonly random: () => number;
};

export function compileL4Table({ hosts }: L4Port, environment: L4Environment): L4Table {
  const exact = new Map<string, L4Entry>();
  /** Wildcard entries by the name after `*.`. */
  const wildcards = new Map<string, L4Entry>();
  let any: L4Entry | undefined;
  const routeIds = new Set<string>();
  const endpoints = new Set<string>();
  for (const { kind, host, mode, route, clientCertificate } of hosts) {
    // TLS that is passed through is not wrapped in TLS again, even if the Service has a TLS policy.
    const identity = mode === "passthrough" ? passThrough : clientCertificate;
    const entry = { host, mode, route: route && compileRoute(route, identity, environment) };
    if (kind === "exact") exact.set(host, entry);
    else if (kind === "wildcard") wildcards.set(host.slice(2), entry);
    else any = entry;
    if (route === undefined) continue;
    routeIds.add(route.id);
    for (const backend of route.backends)
      if (backend.endpoints !== undefined) endpoints.add(backend.endpoints);
  }
  return {
    find(serverName) {
      const found = exact.get(serverName);
      if (found !== undefined || wildcards.size === 0) return found ?? any;
      for (let dot = serverName.indexOf("."); dot > 0; dot = serverName.indexOf(".", dot + 1)) {
        const wildcard = wildcards.get(serverName.slice(dot + 1));
        if (wildcard !== undefined) return wildcard;
      }
      return any;
    },
    routeIds,
    endpoints,
  };
}

function compileRoute(
  route: L4Route,
  identity: string | undefined,
  { upstreamOf, random }: L4Environment,
): CompiledL4Route {
  const pick = createWeightedPicker<(() => Upstream) | undefined>(
    route.backends.map(({ weight, endpoints }) => ({
      weight,
      value: endpoints === undefined ? undefined : upstreamOf(endpoints, identity),
    })),
    undefined,
    random,
  );
  return { route, pickUpstream: () => pick()?.() };
}
