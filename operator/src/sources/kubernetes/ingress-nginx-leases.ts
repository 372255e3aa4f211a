import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { sleep, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { KubeObject } from "../../api/object.ts";
import { type ApiClient, type ApiError, describeApiError } from "./api-client.ts";
import { createOutageLog } from "./outage-log.ts";

/** The Leases of ingress-nginx that some replica of it renews. */
export type IngressNginxLeases = {
  /** Their names as `namespace/name`, sorted; the same list while nothing changes. */
  renewed(): readonly string[];
  /** Calls back when the list has changed. */
  subscribe(listener: () => void): () => void;
  /** Resolves after the signal. */
  readonly done: Promise<void>;
};

/** Nothing is read where no class of ingress-nginx is served. */
export const noIngressNginxLeases: IngressNginxLeases = {
  renewed: () => [],
  subscribe: () => () => undefined,
  done: Promise.resolve(),
};

/** That of its chart under the usual name of the release, and that of its flag `--election-id` unless set. */
export const ingressNginxLeaseNames = ["ingress-nginx-leader", "ingress-controller-leader"] as const;

type Lease = KubeObject & {
  readonly spec?: { readonly holderIdentity?: string | null; readonly renewTime?: string | null };
};

/** ingress-nginx renews every 7.5 s. */
const intervalMs = 30_000;
/** It gives a leader up after 30 s; clocks of other machines differ a little. */
const recentMs = 60_000;
/** Of one name and request: anybody who may create Leases can use the name. */
const maxLeases = 100;

export type IngressNginxLeasesOptions = {
  readonly client: Pick<ApiClient, "call">;
  /** The namespaces that may be read; undefined: all of them. */
  readonly namespaces: readonly string[] | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** A time of day, with which the times in Leases are compared. */
  readonly clock?: Clock;
};

/**
 * Lists the Leases every half a minute. One is renewed if the time in it is of the last minute, or has changed since it was
 * last read, because clocks differ. What was known stays while the API server fails, but not when it refuses. See
 * docs/ingress-nginx.md, "Beside ingress-nginx".
 */
export function followIngressNginxLeases(options: IngressNginxLeasesOptions): IngressNginxLeases {
  const { client, namespaces, log, signal, clock = systemClock } = options;
  const outage = createOutageLog(log, "list of ingress-nginx's Leases");
  const listeners = createListeners();
  const paths = pathsOf(namespaces);
  /** By path, when each Lease was renewed. */
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

/** Lists by name, which a role can permit without permitting all others. */
const pathsOf = (namespaces: readonly string[] | undefined): readonly string[] =>
  (namespaces?.map((namespace) => `namespaces/${namespace}/leases`) ?? ["leases"]).flatMap((collection) =>
    ingressNginxLeaseNames.map(
      (name) =>
        `/apis/coordination.k8s.io/v1/${collection}?${new URLSearchParams({ fieldSelector: `metadata.name=${name}`, limit: String(maxLeases) }).toString()}`,
    ),
  );

/** Its name and when it was renewed; nothing for a Lease that has been released. */
function timeOf({ metadata, spec }: Lease): readonly (readonly [string, string])[] {
  const { holderIdentity, renewTime } = spec ?? {};
  if (!holderIdentity || !renewTime) return [];
  return [[`${metadata.namespace ?? ""}/${metadata.name}`, renewTime]];
}

/** The same answer for the same question. */
const isRefusal = ({ status }: ApiError): boolean => status >= 400 && status < 500 && status !== 429;
