import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { sleep, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { KubeObject } from "../../api/object.ts";
import { type ApiClient, type ApiError, describeApiError } from "./api-client.ts";
import { createOutageLog } from "./outage-log.ts";

/** The Leases of ingress-nginx that a replica of it renews. */
export type IngressNginxLeases = {
  /** The names of the Leases as `namespace/name`, sorted; the same list while nothing changes. */
  renewed(): readonly string[];
  /** Calls the listener when the list has changed. */
  subscribe(listener: () => void): () => void;
  /** Resolves after the signal has aborted. */
  readonly done: Promise<void>;
};

/** The Leases of a controller that serves no class of ingress-nginx: none are read. */
export const noIngressNginxLeases: IngressNginxLeases = {
  renewed: () => [],
  subscribe: () => () => undefined,
  done: Promise.resolve(),
};

/**
 * The name of the Lease in the ingress-nginx chart with its usual release name, and the default of the flag
 * `--election-id`.
 */
export const ingressNginxLeaseNames = ["ingress-nginx-leader", "ingress-controller-leader"] as const;

type Lease = KubeObject & {
  readonly spec?: { readonly holderIdentity?: string | null; readonly renewTime?: string | null };
};

/** The interval between reads; ingress-nginx renews every 7.5 s. */
const intervalMs = 30_000;
/**
 * The greatest age of a current Lease. ingress-nginx replaces a leader after 30 s, and clocks of other machines differ
 * a little.
 */
const recentMs = 60_000;
/** The largest number of Leases read by one request for one name: anyone who may create Leases can use the name. */
const maxLeases = 100;

export type IngressNginxLeasesOptions = {
  readonly client: Pick<ApiClient, "call">;
  /** The namespaces that may be read; undefined for all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** A wall clock, with which the times in Leases are compared. */
  readonly clock?: Clock;
};

/**
 * Lists the Leases every 30 seconds. A Lease counts as renewed if its time is within the last minute, or, because
 * clocks differ, has changed since the previous read. The last known Leases are kept while the API server fails, but
 * not when it refuses the request. See docs/ingress-nginx.md, "Beside ingress-nginx".
 */
export function followIngressNginxLeases(options: IngressNginxLeasesOptions): IngressNginxLeases {
  const { client, namespaces, log, signal, clock = systemClock } = options;
  const outage = createOutageLog(log, "list of ingress-nginx's Leases");
  const listeners = createListeners();
  const paths = pathsOf(namespaces);
  /** The renewal time of each Lease, by path. */
  const seen = new Map<string, ReadonlyMap<string, string>>();
  const renewedAt = new Map<string, readonly string[]>();
  let present: readonly string[] = [];

  const take = (path: string, items: readonly Lease[]): void => {
    const before = seen.get(path);
    const times = new Map(items.slice(0, maxLeases).flatMap(timeOf));
    const isRenewed = ([name, time]: readonly [string, string]): boolean => {
      const last = before?.get(name);
      return (last !== undefined && last !== time) || Math.abs(clock.nowMs() - Date.parse(time)) <= recentMs;
    };
    seen.set(path, times);
    renewedAt.set(
      path,
      [...times].filter(isRenewed).map(([name]) => name),
    );
  };
  const settle = (): void => {
    const next = [...renewedAt.values()].flat().sort();
    if (next.length === present.length && next.every((name, index) => name === present[index])) return;
    present = next;
    listeners.notify();
  };
  const look = async (): Promise<void> => {
    let failure: ApiError | undefined;
    for (const path of paths) {
      const answer = await client.call<{ readonly items?: readonly Lease[] }>(path, { signal });
      if (signal.aborted) return;
      if (answer.ok) take(path, answer.value.items ?? []);
      else {
        failure ??= answer.error;
        if (isRefusal(answer.error)) take(path, []);
      }
    }
    if (failure === undefined) outage.works();
    else outage.failed({ error: describeApiError(failure) });
    settle();
  };
  const run = async (): Promise<void> => {
    do await look();
    while (await sleep(clock, intervalMs, signal));
  };

  return { renewed: () => present, subscribe: listeners.subscribe, done: run() };
}

/** The paths of lists restricted by name, which a role can permit without permitting all other Leases. */
const pathsOf = (namespaces: readonly string[] | undefined): readonly string[] =>
  (namespaces?.map((namespace) => `namespaces/${namespace}/leases`) ?? ["leases"]).flatMap((collection) =>
    ingressNginxLeaseNames.map(
      (name) =>
        `/apis/coordination.k8s.io/v1/${collection}?${new URLSearchParams({ fieldSelector: `metadata.name=${name}`, limit: String(maxLeases) }).toString()}`,
    ),
  );

/** Returns the name of a Lease and the time of its renewal; nothing for a Lease that has been released. */
function timeOf({ metadata, spec }: Lease): readonly (readonly [string, string])[] {
  const { holderIdentity, renewTime } = spec ?? {};
  if (!holderIdentity || !renewTime) return [];
  return [[`${metadata.namespace ?? ""}/${metadata.name}`, renewTime]];
}

/** Whether the API server refused the request for good: a repeated request would get the same response. */
const isRefusal = ({ status }: ApiError): boolean => status >= 400 && status < 500 && status !== 429;
