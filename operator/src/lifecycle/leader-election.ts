import { monotonicClock, sleep, type Clock } from "@svc-gateway/common/time/clock.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { type ApiClient, type ApiError, describeApiError } from "../sources/kubernetes/api-client.ts";
import type { OutageLog } from "../sources/kubernetes/outage-log.ts";
import type { LeadershipControl } from "./leadership.ts";

export type LeaderElectionOptions = {
  readonly client: ApiClient;
  readonly namespace: string;
  /** The name of the Lease, shared by all replicas. */
  readonly leaseName: string;
  /** This replica: its pod name. */
  readonly identity: string;
  readonly ttlMs: number;
  readonly renewIntervalMs: number;
  readonly signal: AbortSignal;
  readonly leadership: Pick<LeadershipControl, "isLeading" | "holdUntil" | "resign">;
  readonly outage: OutageLog;
  /** The clock of the leadership, for all intervals and limits; the monotonic clock by default. */
  readonly clock?: Clock;
  /** The wall clock for times written to the Lease. */
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

/**
 * The last version of the Lease seen by this replica, and when, on its own monotonic clock: other machines' clocks may
 * be wrong.
 */
type Observed = { version: string; atMs: number };

/** One attempt on the lease: the signal ends it, and `leading` is whether this replica led when it began. */
type Attempt = { readonly signal: AbortSignal; readonly leading: boolean; readonly observed: Observed };

/** The longest time by which releasing the lease may delay the end of the process. */
const releaseTimeoutMs = 2_000;

/**
 * Holds a Lease while it can (docs/controller.md, "Leadership"). After a successful write, a replica leads until one
 * renew interval before the lease's end, counted from before that write, unless it renews the lease in the meantime.
 * Leadership therefore ends before a standby can acquire the lease, which requires that the lease has not changed for
 * its whole duration. When the signal aborts, leadership ends immediately, the holder is cleared, and the function
 * returns.
 */
export async function runLeaderElection(options: LeaderElectionOptions): Promise<void> {
  const { signal, renewIntervalMs, ttlMs, leadership, clock = monotonicClock } = options;
  const observed: Observed = { version: "", atMs: 0 };
  const resign = (): void => leadership.resign();
  signal.addEventListener("abort", resign, { once: true });
  while (!signal.aborted) {
    const startedMs = clock.nowMs();
    // Two attempts fit between the time at which the lease should be renewed and the end of leadership.
    const limit = limitOf(clock, Math.max(1_000, renewIntervalMs / 2));
    const leading = leadership.isLeading();
    const ending = AbortSignal.any([signal, limit.signal]);
    const held = await tryHold(options, { signal: ending, leading, observed });
    limit.cancel();
    if (signal.aborted) break;
    if (held.ok) options.outage.works();
    if (!held.ok) options.outage.failed({ error: describeApiError(held.error) });
    else if (held.value) leadership.holdUntil(startedMs + ttlMs - renewIntervalMs);
    else leadership.resign();
    // A standby checks every second, so that it notices an abandoned lease soon after its end.
    const isSettled = held.ok && held.value;
    await sleep(clock, isSettled ? renewIntervalMs : Math.min(renewIntervalMs, 1_000), signal);
  }
  signal.removeEventListener("abort", resign);
  const limit = limitOf(clock, releaseTimeoutMs);
  await release(options, limit.signal);
  limit.cancel();
}

/** A signal that aborts after a time on the clock, unless it is cancelled before. */
function limitOf(
  clock: Clock,
  timeoutMs: number,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const over = new AbortController();
  const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
  return { signal: over.signal, cancel: clock.schedule(timeoutMs, () => over.abort(reason)) };
}

/** Returns whether this replica holds the lease after the call. */
async function tryHold(
  options: LeaderElectionOptions,
  { signal, leading, observed }: Attempt,
): Promise<Result<boolean, ApiError>> {
  const { client, identity, ttlMs, clock = monotonicClock } = options;
  const found = await client.call<Lease>(leasePath(options), { signal });
  if (!found.ok) {
    if (found.error.status !== 404) return found;
    const created = await client.call<Lease>(leaseCollection(options), {
      method: "POST",
      body: leaseBody(options, undefined),
      signal,
    });
    return heldBy(created, observed, clock.nowMs());
  }
  const lease = found.value;
  const version = lease.metadata.resourceVersion ?? "";
  const now = clock.nowMs();
  if (version !== observed.version) Object.assign(observed, { version, atMs: now });
  const holder = lease.spec?.holderIdentity ?? "";
  const free = holder === "" || holder === identity || now - observed.atMs >= ttlMs;
  if (!free) return ok(false);
  const written = await client.call<Lease>(leasePath(options), {
    method: "PUT",
    body: leaseBody(options, { lease, keep: leading && holder === identity }),
    signal,
  });
  return heldBy(written, observed, clock.nowMs());
}

/** A conflict means that another replica was faster, which is not an error. */
function heldBy(
  written: Result<Lease, ApiError>,
  observed: Observed,
  atMs: number,
): Result<boolean, ApiError> {
  if (!written.ok) return written.error.status === 409 ? ok(false) : fail(written.error);
  Object.assign(observed, { version: written.value.metadata.resourceVersion ?? "", atMs });
  return ok(true);
}

/** Clears the holder if that is this replica, so that a standby need not wait for the lease to expire. */
async function release(options: LeaderElectionOptions, signal: AbortSignal): Promise<void> {
  const found = await options.client.call<Lease>(leasePath(options), { signal });
  if (!found.ok || found.value.spec?.holderIdentity !== options.identity) return;
  const released = await options.client.call<Lease>(leasePath(options), {
    method: "PUT",
    body: { ...found.value, spec: { ...found.value.spec, holderIdentity: "", leaseDurationSeconds: 1 } },
    signal,
  });
  if (!released.ok) options.outage.failed({ error: describeApiError(released.error) });
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
