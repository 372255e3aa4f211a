/** Reads the proxies of a cluster from the leader: what each serves, and whether that is the current version. */
import { describeApiError, type ApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import type { FleetProxy } from "@svc-gateway/operator/admin/fleet-pages.ts";
import type { ReadOnlyClient } from "../live/connect.ts";
import type { LiveController } from "../live/controller.ts";
import { error, warning, type StatusProblem } from "./problem.ts";

export type ProxyStatus = {
  readonly namespace: string;
  readonly name: string;
  /** The scope of the proxy: `shared`, or the `namespace/name` of its Gateway. */
  readonly serves: string;
  readonly node: string | null;
  /** The version of the last snapshot that it acknowledged; null before the first one. */
  readonly version: string | null;
  /** `behind`: it does not serve the current version. `terminating`: its pod is being deleted, and has disconnected. */
  readonly state: "in sync" | "behind" | "not connected" | "terminating";
  readonly health: "ready" | "degraded" | null;
  readonly restarts: number;
  readonly createdAt: string | null;
  /** The number of settings that it does not know because its release is older; null if this is not known. */
  readonly unknownFields: number | null;
};

export type ProxiesStatus = {
  /** The proxies, those that are not in sync first, then by name; undefined if they are not known. */
  readonly proxies?: readonly ProxyStatus[];
  /** The reason why the proxies are not known. */
  readonly unknown?: string;
  readonly problems: readonly StatusProblem[];
};

/** The path of a page of a pod in the proxy of the API server. */
export const podProxyPath = (namespace: string, pod: string, port: number, page: string): string =>
  `/api/v1/namespaces/${namespace}/pods/${pod}:${port}/proxy${page}`;

/** Queries the leader, which receives the acknowledgements of proxies (docs/reference/fleet.md). */
export async function readProxies(
  client: ReadOnlyClient,
  { namespace, settings }: LiveController,
  leader: string | undefined,
): Promise<ProxiesStatus> {
  if (leader === undefined) return { unknown: "no replica leads that could be asked", problems: [] };
  const path = podProxyPath(namespace, leader, settings.adminPort, "/api/v1/fleet/proxies");
  const asked = await client.call<{ readonly proxies?: readonly FleetProxy[] }>(path);
  if (!asked.ok) return { unknown: explain(asked.error, namespace, settings.adminAuth), problems: [] };
  const pages = asked.value.proxies ?? [];
  const proxies = pages.map(describe).sort(behindFirst);
  return { proxies, problems: [...proxies.flatMap(problemsOf), ...pages.flatMap(skewOf)] };
}

function explain(failure: ApiError, namespace: string, adminAuth: boolean): string {
  if (failure.status === 403) {
    return `this user may not get pods/proxy in namespace ${namespace}`;
  }
  if (failure.status === 401 && adminAuth) {
    return "the controllers run with --admin-auth, and the API server does not pass on the credentials of users";
  }
  return `the admin port of the leader cannot be asked: ${describeApiError(failure)}`;
}

const describe = (proxy: FleetProxy): ProxyStatus => ({
  namespace: proxy.pod_namespace,
  name: proxy.pod_name,
  serves: proxy.gateway_ref ?? "shared",
  node: proxy.node,
  version: proxy.last_acked_version,
  state: stateOf(proxy),
  health: proxy.health,
  restarts: proxy.restarts,
  createdAt: proxy.created_at,
  // Controllers of an older release do not report it.
  unknownFields: proxy.unknown_fields ?? null,
});

function stateOf({ connected, in_sync, phase }: FleetProxy): ProxyStatus["state"] {
  if (connected !== null) return in_sync ? "in sync" : "behind";
  return phase === "Terminating" ? "terminating" : "not connected";
}

function problemsOf({ namespace, name, state, health, version }: ProxyStatus): readonly StatusProblem[] {
  const subject = `Pod ${namespace}/${name}`;
  if (state === "not connected") {
    return [warning(subject, "is not connected to the controller that leads: it serves what it last got")];
  }
  const serves = version === null ? "has no snapshot" : `serves the version ${shortVersion(version)}`;
  return [
    ...(state === "behind" ? [error(subject, `is behind: it ${serves}, which is not the present one`)] : []),
    ...(health === "degraded" ? [warning(subject, "is degraded")] : []),
  ];
}

/** The problem of a proxy that ignores settings, possibly protective ones (docs/upgrading.md, "Version skew"). */
function skewOf({
  pod_namespace,
  pod_name,
  unknown_fields,
  unknown_field_names,
}: FleetProxy): readonly StatusProblem[] {
  const count = unknown_fields ?? 0;
  if (count === 0) return [];
  const named = (unknown_field_names ?? []).slice(0, maxFieldNames);
  const more = count > named.length ? `, and ${count - named.length} more` : "";
  const what = `does not know ${count} settings of the controllers (${named.join(", ")}${more})`;
  const message = `${what}, as it is of an older release: they have no effect there, also those that protect`;
  return [warning(`Pod ${pod_namespace}/${pod_name}`, message)];
}

/** The maximum number of setting names in one message. */
const maxFieldNames = 5;

/** The beginning of a version, long enough to compare by eye. */
export const shortVersion = (version: string): string => version.slice(0, 12);

const behindFirst = (a: ProxyStatus, b: ProxyStatus): number =>
  Number(a.state === "in sync") - Number(b.state === "in sync") || compare(nameOf(a), nameOf(b));

const nameOf = ({ namespace, name }: ProxyStatus): string => `${namespace}/${name}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
