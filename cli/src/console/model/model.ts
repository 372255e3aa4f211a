/** The content of pages for a build, as rows; computed for the first page that needs it, kept until the next build. */
import { X509Certificate } from "node:crypto";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { formatEndpoint } from "@svc-gateway/common/values/endpoint.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import type { Conflict } from "@svc-gateway/operator/translate/finding.ts";
import { isRest } from "@svc-gateway/operator/translate/ingress/claims.ts";
import type { Routing } from "@svc-gateway/operator/translate/routing.ts";
import { formatPlace } from "@svc-gateway/operator/sources/files/place.ts";
import type { ConsoleBuild } from "../console-source.ts";
import { createPlacer } from "../../explain/answer.ts";
import { tlsSource } from "../../explain/backends.ts";
import { describePath } from "../../text/path.ts";

export type ListenerRow = Listener & {
  /** `shared`, or the Gateway (`namespace/name`) with dedicated proxies. */
  readonly scope: string;
  /** The Gateway that owns the listener, or `Ingresses`. */
  readonly owner: string;
  readonly hosts: number;
};

export type RouteRow = {
  readonly scope: string;
  readonly host: string;
  readonly ports: readonly number[];
  readonly route: Route;
  /** The conditions of the match, such as `Prefix /a`. */
  readonly match: string;
  readonly source: string;
  readonly place: string;
  /** The text that a search examines, in lower case. */
  readonly text: string;
};

export type BackendRow = {
  readonly scope: string;
  /** `namespace/service/port`. */
  readonly name: string;
  readonly service: string;
  readonly endpoints: readonly string[];
  readonly resolve: "static" | "dns";
  readonly tls: string;
  readonly hasPolicy: boolean;
  readonly routes: number;
};

export type CertificateRow = {
  readonly port: number;
  readonly host: string;
  readonly names: readonly string[];
  readonly issuer: string;
  readonly notAfterMs: number;
  readonly fingerprint: string;
};

export type FindingRow = {
  readonly severity: "error" | "warning" | "info";
  readonly reason: string;
  readonly object: string;
  readonly field: string;
  readonly message: string;
  readonly place: string;
};

export type Model = {
  readonly listeners: readonly ListenerRow[];
  readonly routes: readonly RouteRow[];
  readonly hostCount: number;
  readonly backends: readonly BackendRow[];
  readonly certificates: readonly CertificateRow[];
  readonly findings: readonly FindingRow[];
  readonly conflicts: readonly Conflict[];
};

/** The model before the first build. */
export const emptyModel: Model = {
  listeners: [],
  routes: [],
  hostCount: 0,
  backends: [],
  certificates: [],
  findings: [],
  conflicts: [],
};

let kept: { readonly build: ConsoleBuild; readonly model: Model } | undefined;

/** Returns the model of a build. Only the model of the last one is kept. */
export function modelOf(build: ConsoleBuild): Model {
  if (kept?.build !== build) kept = { build, model: createModel(build) };
  return kept.model;
}

const shared = "shared";

function createModel(build: ConsoleBuild): Model {
  const { translation, state } = build;
  const placeOf = createPlacer(build);
  const scopes = [
    { name: shared, routing: translation.routing, resources: translation.scopes.shared },
    ...translation.scopes.dedicated.map(({ gateway, routing, resources }) => ({
      name: formatNamespacedName(gateway),
      routing,
      resources,
    })),
  ];
  const routes = scopes.flatMap(({ name, routing }) => routesOf(name, routing, placeOf));
  const uses = usesOf(routes);
  return {
    listeners: scopes.flatMap(({ name, routing, resources }) =>
      resources.flatMap((resource) => listenersOf(name, routing, resource)),
    ),
    routes,
    hostCount: scopes.reduce((sum, { routing }) => sum + routing.hosts.length, 0),
    backends: scopes.flatMap(({ name, routing }) => backendsOf(name, routing, uses)),
    certificates: scopes.flatMap(({ routing }) => certificatesOf(routing)),
    findings: [
      ...state.problems.map(({ severity, reason, object, message, file, line, column }): FindingRow => ({
        severity,
        reason,
        object: object === undefined ? file : formatRef(object),
        field: "",
        message,
        place: line === undefined ? file : formatPlace({ file, line, column: column ?? 1 }),
      })),
      ...translation.diagnostics.map(({ severity, reason, object, field = "", message }): FindingRow => ({
        severity,
        reason,
        object: formatRef(object),
        field,
        message,
        place: placeOf({ namespace: "", ...object }) ?? "",
      })),
    ].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity)),
    conflicts: translation.conflicts,
  };
}

const severities = ["error", "warning", "info"];

function listenersOf(
  scope: string,
  { hosts }: Routing,
  resource: ConsoleBuild["translation"]["scopes"]["shared"][number],
): readonly ListenerRow[] {
  if (!resource.key.startsWith("listener|")) return [];
  const decoded = decodeResource(resource);
  if (!decoded.ok || decoded.value?.type !== "listener") return [];
  const owner = resource.key.slice("listener|".length);
  const group = owner === "ingress" ? "ingress" : "gateway";
  return decoded.value.value.listeners.map((listener) => ({
    ...listener,
    scope,
    owner: owner === "ingress" ? "Ingresses" : `Gateway ${owner}`,
    hosts: hosts.filter((host) => host.group === group && host.ports.includes(listener.port)).length,
  }));
}

function routesOf(
  scope: string,
  { hosts }: Routing,
  placeOf: ReturnType<typeof createPlacer>,
): readonly RouteRow[] {
  return hosts.flatMap(({ host, ports, value }) =>
    value.routes.map((route): RouteRow => {
      const match = describeMatch(route);
      const source = formatRef(route.source);
      const services = route.backends.map(({ service }) => service).join(" ");
      return {
        scope,
        host: host.host,
        ports,
        route,
        match,
        source,
        place: placeOf(route.source) ?? "",
        text: `${host.host} ${match} ${source} ${services} ${route.id}`.toLowerCase(),
      };
    }),
  );
}

/** Describes the match of a route in the same form as `explain`. */
function describeMatch(route: Route): string {
  const { match, fallback } = route;
  if (fallback === true) return isRest(route) ? "a path that no rule names" : "default backend";
  const values = [...(match.headers ?? []), ...(match.query ?? []), ...(match.cookies ?? [])];
  return [
    describePath(match.path),
    ...(match.method === undefined ? [] : [`method ${match.method}`]),
    ...values.map(({ name, type, value }) => `${name} ${type === "exact" ? "=" : "~"} ${value}`),
  ].join(", ");
}

/** Counts the routes of each endpoint set, by scope and name. */
function usesOf(routes: readonly RouteRow[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const { scope, route } of routes) {
    for (const { endpoints } of route.backends) {
      if (endpoints === undefined) continue;
      const key = `${scope} ${endpoints}`;
      uses.set(key, (uses.get(key) ?? 0) + 1);
    }
  }
  return uses;
}

const backendsOf = (
  scope: string,
  { endpoints: { keys, values } }: Routing,
  uses: ReadonlyMap<string, number>,
): readonly BackendRow[] =>
  keys.map((name, index): BackendRow => {
    const set = values[index]?.set;
    return {
      scope,
      name,
      service: set?.service ?? "",
      endpoints: (set?.addresses ?? []).map((endpoint) => formatEndpoint(endpoint)),
      resolve: set?.resolve ?? "static",
      tls: set?.tls === undefined ? "" : tlsSource(set.tls),
      hasPolicy: set?.policy !== undefined || set?.balancing !== undefined,
      routes: uses.get(`${scope} ${name}`) ?? 0,
    };
  });

/** The rows of certificates, with public data only. */
function certificatesOf({ tls }: Routing): readonly CertificateRow[] {
  return [...tls].flatMap(([port, { hosts, certificates }]) =>
    hosts.flatMap(({ host, certificates: ids }) =>
      ids.flatMap((id): CertificateRow | [] => {
        const chain = certificates[id]?.chainPem;
        if (chain === undefined) return [];
        const leaf = leafOf(chain);
        return { port, host, ...leaf };
      }),
    ),
  );
}

type Leaf = Omit<CertificateRow, "port" | "host">;

/** The parsed certificates by their PEM text, because many hosts often share one. */
const leaves = new Map<string, Leaf>();
const maxLeaves = 1_000;

function leafOf(chainPem: string): Leaf {
  const known = leaves.get(chainPem);
  if (known !== undefined) return known;
  const leaf = new X509Certificate(chainPem);
  const names = leaf.subjectAltName?.split(", ").map((name) => name.replace(/^DNS:/, "")) ?? [leaf.subject];
  const read: Leaf = {
    names,
    issuer: leaf.issuer.replaceAll("\n", ", "),
    notAfterMs: leaf.validToDate.getTime(),
    fingerprint: leaf.fingerprint256,
  };
  if (leaves.size >= maxLeaves) leaves.clear();
  leaves.set(chainPem, read);
  return read;
}
