import { setTimeout as delay } from "node:timers/promises";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { ApiClient, ApiError } from "../sources/kubernetes/api-client.ts";

export type LeaderElectionOptions = {
  readonly client: ApiClient;
  readonly namespace: string;
  /** Name of the Lease, shared by all replicas. */
  readonly leaseName: string;
  /** This replica: its pod name. */
  readonly identity: string;
  readonly ttlMs: number;
  readonly renewIntervalMs: number;
  readonly signal: AbortSignal;
  readonly onChange: (leading: boolean) => void;
  readonly onError: (error: ApiError) => void;
  /** Wall clock for what is written to the Lease. */
  readonly nowMs?: () => number;
};

type Lease = {
  readonly metadata: { readonly resourceVersion?: string };
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly renewTime?: string | null;
    readonly acquireTime?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly leaseTransitions?: number | null;
  };
};

/** What a replica has seen of the Lease, and when, on its own monotonic clock: other machines' clocks may be wrong. */
type Observed = { version: string; atMs: number };

/**
 * Holds a Lease while it can (docs/operations.md, "Leadership"). A replica leads from a successful write until it
 * fails to renew within the lease's life; a standby takes over when the Lease has not moved for that long. Leadership
 * ends before the Lease could be taken, and is given up at once when the signal aborts. Returns after that.
 */
export async function runLeaderElection(options: LeaderElectionOptions): Promise<void> {
  const { signal, renewIntervalMs, ttlMs, onChange } = options;
  const observed: Observed = { version: "", atMs: 0 };
  let leading = false;
  let renewedAtMs = 0;
  const lead = (next: boolean): void => {
    if (leading === next) return;
    leading = next;
    onChange(next);
  };
  while (!signal.aborted) {
    const attemptAtMs = performance.now();
    // Two attempts fit into a lease's life: leadership ends before a standby could take it.
    const result = await tryHold(options, observed, leading, Math.max(1_000, renewIntervalMs));
    if (signal.aborted) break;
    if (result.ok && result.value) {
      renewedAtMs = attemptAtMs;
      lead(true);
    } else if (result.ok) {
      lead(false);
    } else {
      options.onError(result.error);
      if (leading && performance.now() - renewedAtMs >= ttlMs - renewIntervalMs) lead(false);
    }
    // A standby looks every second, so that it notices an abandoned lease soon after its end.
    await pause(leading && result.ok ? renewIntervalMs : Math.min(renewIntervalMs, 1_000), signal);
  }
  if (leading) {
    lead(false);
    await release(options);
  }
}

/** True when this replica holds the lease after the call. */
async function tryHold(
  options: LeaderElectionOptions,
  observed: Observed,
  leading: boolean,
  timeoutMs: number,
): Promise<Result<boolean, ApiError>> {
  const { client, identity, ttlMs } = options;
  const found = await client.call<Lease>(leasePath(options), { timeoutMs });
  if (!found.ok) {
    if (found.error.status !== 404) return found;
    const created = await client.call<Lease>(leaseCollection(options), {
      method: "POST",
      body: leaseBody(options, undefined),
      timeoutMs,
    });
    return heldBy(created, observed);
  }
  const lease = found.value;
  const version = lease.metadata.resourceVersion ?? "";
  const now = performance.now();
  if (version !== observed.version) Object.assign(observed, { version, atMs: now });
  const holder = lease.spec?.holderIdentity ?? "";
  const free = holder === "" || holder === identity || now - observed.atMs >= ttlMs;
  if (!free) return ok(false);
  const written = await client.call<Lease>(leasePath(options), {
    method: "PUT",
    body: leaseBody(options, { lease, keep: leading && holder === identity }),
    timeoutMs,
  });
  return heldBy(written, observed);
}

/** A conflict means that another replica was faster, which is not an error. */
function heldBy(written: Result<Lease, ApiError>, observed: Observed): Result<boolean, ApiError> {
  if (!written.ok) return written.error.status === 409 ? ok(false) : fail(written.error);
  Object.assign(observed, { version: written.value.metadata.resourceVersion ?? "", atMs: performance.now() });
  return ok(true);
}

/** Clears the holder, so that a standby need not wait for the lease to expire. */
async function release(options: LeaderElectionOptions): Promise<void> {
  const found = await options.client.call<Lease>(leasePath(options), { timeoutMs: 2_000 });
  if (!found.ok || found.value.spec?.holderIdentity !== options.identity) return;
  const released = await options.client.call<Lease>(leasePath(options), {
    method: "PUT",
    body: { ...found.value, spec: { ...found.value.spec, holderIdentity: "", leaseDurationSeconds: 1 } },
    timeoutMs: 2_000,
  });
  if (!released.ok) options.onError(released.error);
}

function leaseBody(
  options: LeaderElectionOptions,
  previous: { readonly lease: Lease; readonly keep: boolean } | undefined,
): object {
  const { identity, ttlMs, namespace, leaseName, nowMs = Date.now } = options;
  const time = `${new Date(nowMs()).toISOString().slice(0, -1)}000Z`;
  const spec = previous?.lease.spec;
  const transitions = spec?.leaseTransitions ?? 0;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...previous?.lease.metadata, namespace, name: leaseName },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(ttlMs / 1000),
      renewTime: time,
      acquireTime: previous?.keep === true ? (spec?.acquireTime ?? time) : time,
      leaseTransitions: previous === undefined || previous.keep ? transitions : transitions + 1,
    },
  };
}

const leaseCollection = ({ namespace }: LeaderElectionOptions): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

const leasePath = (options: LeaderElectionOptions): string =>
  `${leaseCollection(options)}/${options.leaseName}`;

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(waitMs, undefined, { signal });
  } catch {
    // The signal ended the wait: the caller looks at it.
  }
}
