import { jsonAnswer, type AdminAnswer } from "@svc-gateway/common/admin/admin-answer.ts";
import type { AdminRoute } from "@svc-gateway/common/admin/admin-app.ts";
import { noEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { problem, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { shown } from "@svc-gateway/common/values/clip.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { Fleet } from "../discovery/fleet.ts";
import { buildRoutesDocument, type RoutesQuery, type ServedTable } from "../translate/routes-document.ts";
import type { Translation } from "../translate/translation.ts";
import type { ProxyPod } from "./proxy-pods.ts";

export type FleetRoutesOptions = {
  readonly pods: () => readonly ProxyPod[];
  readonly fleet: Pick<Fleet, "node">;
  /** The last build; undefined before the first one. */
  readonly translation: () => Translation | undefined;
};

/** The facts about a proxy from its stream; all null if it has no stream to this replica. */
export type StreamFacts =
  | {
      readonly connected: true;
      readonly health: "ready" | "degraded" | null;
      readonly degraded_checks: readonly string[];
      readonly last_acked_version: string | null;
      readonly in_sync: boolean;
      /** How many settings of this release the proxy does not know; `unknown_field_names` has the first of them. */
      readonly unknown_fields: number;
      readonly unknown_field_names: readonly string[];
    }
  | {
      readonly [
        Fact in
          | "connected"
          | "health"
          | "degraded_checks"
          | "last_acked_version"
          | "in_sync"
          | "unknown_fields"
          | "unknown_field_names"
      ]: null;
    };

export type FleetProxy = StreamFacts & {
  readonly pod_name: string;
  readonly pod_namespace: string;
  readonly pod_ip: string | null;
  readonly admin_port: number;
  readonly component: string;
  readonly gateway_ref: string | null;
  readonly node: string | null;
  readonly phase: string;
  readonly restarts: number;
  readonly created_at: string | null;
};

/** The largest number of setting names that a page lists for one proxy. */
const maxFieldNames = 20;

const unknownFacts: StreamFacts = {
  connected: null,
  health: null,
  degraded_checks: null,
  last_acked_version: null,
  in_sync: null,
  unknown_fields: null,
  unknown_field_names: null,
};

/** The fleet pages of the admin port. See docs/reference/fleet.md. */
export function fleetRoutes(options: FleetRoutesOptions): readonly AdminRoute[] {
  return [
    {
      path: "/api/v1/fleet/proxies",
      answer: () => jsonAnswer({ proxies: options.pods().map((pod) => describePod(pod, options.fleet)) }),
    },
    {
      path: "/api/v1/fleet/proxies/:pod/routes",
      answer: ({ params, query }) => answerRoutes(params["pod"] ?? "", query, options),
    },
  ];
}

function describePod(pod: ProxyPod, fleet: Pick<Fleet, "node">): FleetProxy {
  return {
    pod_name: pod.name,
    pod_namespace: pod.namespace,
    pod_ip: pod.ip,
    admin_port: pod.adminPort,
    component: pod.component,
    gateway_ref: pod.gatewayRef,
    node: pod.node,
    phase: pod.phase,
    restarts: pod.restarts,
    created_at: pod.createdAt,
    ...factsOf(pod, fleet),
  };
}

function factsOf({ name, namespace }: ProxyPod, fleet: Pick<Fleet, "node">): StreamFacts {
  const node = fleet.node(name, namespace);
  if (node === undefined) return unknownFacts;
  return {
    connected: true,
    health: node.health ?? null,
    degraded_checks: node.degradedChecks,
    last_acked_version: node.lastAckedVersion ?? null,
    in_sync: node.isInSync,
    unknown_fields: node.unknownFields.length,
    unknown_field_names: node.unknownFields.slice(0, maxFieldNames),
  };
}

function answerRoutes(podName: string, query: URLSearchParams, options: FleetRoutesOptions): AdminAnswer {
  const pod = options.pods().find(({ name }) => name === podName);
  if (pod === undefined) return jsonAnswer({ error: "unknown pod" }, 404);
  const selection = parseRoutesQuery(query);
  if (!selection.ok) return jsonAnswer({ error: selection.error.message }, 400);
  const translation = options.translation();
  if (translation === undefined) return jsonAnswer({ error: "no routing table yet" }, 503);
  return jsonAnswer(buildRoutesDocument(servedBy(pod, translation), podName, selection.value));
}

/** The table that the scope of a pod serves; empty if its Gateway no longer has dedicated proxies. */
function servedBy({ gatewayRef }: ProxyPod, { routing, conflicts, scopes }: Translation): ServedTable {
  if (gatewayRef === null) return { routing, conflicts };
  const scope = scopes.dedicated.find(({ gateway }) => formatNamespacedName(gateway) === gatewayRef);
  return { routing: scope?.routing ?? noRouting, conflicts: [] };
}

const noRouting: ServedTable["routing"] = {
  hosts: [],
  endpoints: noEntries,
  tls: new Map(),
  clientCerts: new Map(),
};

const maxOffset = 10_000_000;

/** Reads the parameters of a query; undefined if it has none of them. Other parameters are ignored. */
function parseRoutesQuery(query: URLSearchParams): Result<RoutesQuery | undefined> {
  const text = (name: "host" | "namespace" | "path"): RoutesQuery => {
    const value = query.getAll(name).at(-1);
    if (value === undefined) return {};
    return { [name]: name === "host" ? value.toLowerCase() : value };
  };
  const limit = integer(query, "limit", 1, Number.MAX_SAFE_INTEGER);
  if (!limit.ok) return limit;
  const offset = integer(query, "offset", 0, maxOffset);
  if (!offset.ok) return offset;
  const selection = {
    ...text("host"),
    ...text("namespace"),
    ...text("path"),
    ...(limit.value !== undefined && { limit: limit.value }),
    ...(offset.value !== undefined && { offset: offset.value }),
  };
  return ok(Object.keys(selection).length === 0 ? undefined : selection);
}

function integer(query: URLSearchParams, name: string, min: number, max: number): Result<number | undefined> {
  const text = query.getAll(name).at(-1);
  if (text === undefined) return ok(undefined);
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return ok(value);
  return problem(`${name} is "${shown(text)}", expected a whole number of at least ${min}`);
}
