import { isDeepStrictEqual } from "node:util";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { KindName } from "../api/kinds.ts";
import type { KubeObject } from "../api/object.ts";
import { type ApiClient, type ApiError, describeApiError } from "../sources/kubernetes/api-client.ts";
import type { ClusterSource } from "../sources/kubernetes/cluster-source.ts";
import type { Observed } from "../sources/kubernetes/held-objects.ts";
import { applyMergePatch } from "./merge-patch.ts";

/**
 * Returns the desired change of a status, as a JSON merge patch (RFC 7396) of the status in the API server. Parts that
 * belong to other controllers are omitted or carried over. The function is called again if the status has changed in
 * between.
 */
export type StatusChange = (status: unknown, nowMs: number) => object;

export type StatusTarget = {
  readonly kind: KindName;
  /** `namespace/name`, or `name`. */
  readonly name: string;
  /** The uid of the object: an object that was deleted and created again under its name is a different one. */
  readonly uid: string | undefined;
  readonly change: StatusChange;
  /**
   * Decides about a write that depends on facts that are not held, such as managed fields: the object is read first, and
   * nothing is written without a confirmation. Called only if the status differs.
   */
  readonly confirm?: (stored: KubeObject, signal: AbortSignal) => Promise<Result<boolean>>;
};

/** The result of a write. `gone` means that the object no longer exists, which is not a failure. */
export type StatusOutcome = "written" | "unchanged" | "gone";

export type StatusWriter = {
  /**
   * Writes a status if it differs. Ends immediately when the signal aborts; a request that is being sent then may or
   * may not be applied.
   */
  write(target: StatusTarget, signal: AbortSignal): Promise<Result<StatusOutcome>>;
};

export type StatusWriterOptions = {
  readonly client: ApiClient;
  readonly source: Pick<ClusterSource, "observed" | "remember">;
  /** Returns the path of an object; undefined if its kind is not installed. */
  readonly pathOf: (kind: KindName, name: string) => string | undefined;
  readonly metrics: Pick<MetricSet<typeof controllerMetrics>, "statusPatches" | "statusPatchDuration">;
  /** The wall clock for transition times. */
  readonly nowMs?: () => number;
};

/** The name of this writer in `metadata.managedFields`. */
export const fieldManager = "svc-controller";

/** The largest number of attempts. If another writer keeps changing the object, the queue retries it later. */
const maxAttempts = 4;

/**
 * Writes statuses without losing changes of other writers. Every write is based on one version of the object, and the
 * API server rejects it if a newer one exists; then the newer version is read and the change is computed again. Nothing
 * is sent if the status is up to date. See docs/adr/0009-status-by-merge-patch.md.
 */
export function createStatusWriter(options: StatusWriterOptions): StatusWriter {
  const { client, source, pathOf, metrics, nowMs = Date.now } = options;

  const send = async (
    { kind, uid }: StatusTarget,
    path: string,
    { version, patch, signal }: { version: string; patch: object; signal: AbortSignal },
  ): Promise<Result<KubeObject, ApiError>> => {
    const label = kind.toLowerCase();
    const startedMs = performance.now();
    const metadata = {
      ...(version !== "" && { resourceVersion: version }),
      ...(uid !== undefined && { uid }),
    };
    const sent = await client.call<KubeObject>(`${path}/status`, {
      method: "PATCH",
      patch: "merge",
      query: { fieldManager },
      body: { metadata, status: patch },
      signal,
    });
    if (!sent.ok && signal.aborted) return sent;
    metrics.statusPatchDuration.with({ kind: label }).observe((performance.now() - startedMs) / 1000);
    metrics.statusPatches.with({ kind: label, result: resultOf(sent) }).inc();
    return sent;
  };

  /** Reads the object with this uid from the API server; undefined if it no longer exists. */
  const read = async (
    path: string,
    uid: string | undefined,
    signal: AbortSignal,
  ): Promise<Result<Stored | undefined>> => {
    const stored = await client.call<Stored>(path, { signal });
    if (!stored.ok)
      return stored.error.status === 404 ? ok(undefined) : problem(describeApiError(stored.error));
    return ok(uid === undefined || stored.value.metadata.uid === uid ? stored.value : undefined);
  };

  return {
    async write(target, signal) {
      const { kind, name, uid, change, confirm } = target;
      const path = pathOf(kind, name);
      let observed = source.observed(kind, name);
      if (path === undefined || observed === undefined) return ok("gone");
      const since = observed.version;
      for (let attempt = 1; attempt <= maxAttempts && !signal.aborted; attempt++) {
        let patch = change(observed.status, nowMs());
        if (changesNothing(patch, observed)) return ok("unchanged");
        if (confirm !== undefined) {
          const stored = await read(path, uid, signal);
          if (!stored.ok) return stored;
          if (stored.value === undefined) return ok("gone");
          const confirmed = await confirm(stored.value, signal);
          if (!confirmed.ok) return confirmed;
          observed = observedOf(stored.value);
          patch = confirmed.value ? change(observed.status, nowMs()) : {};
          if (changesNothing(patch, observed)) return ok("unchanged");
        }
        const sent = await send(target, path, { version: observed.version, patch, signal });
        if (sent.ok) {
          source.remember(kind, sent.value, since);
          return ok("written");
        }
        if (sent.error.status === 404) return ok("gone");
        if (sent.error.status !== 409) return problem(describeApiError(sent.error));
        const fresh = await read(path, uid, signal);
        if (!fresh.ok) return fresh;
        if (fresh.value === undefined) return ok("gone");
        observed = observedOf(fresh.value);
      }
      return problem(
        signal.aborted
          ? "no longer leading"
          : `status not written: the object changed during each of ${maxAttempts} attempts`,
      );
    },
  };
}

type Stored = KubeObject & { readonly status?: unknown };

const observedOf = ({ metadata, status }: Stored): Observed => ({
  version: metadata.resourceVersion ?? "",
  status,
});

const changesNothing = (patch: object, { status }: Observed): boolean =>
  isDeepStrictEqual(applyMergePatch(status, patch), status ?? {});

/** The result label of a patch; an object that was deleted in the meantime counts as a conflict, like a changed one. */
function resultOf(sent: Result<unknown, ApiError>): "ok" | "error" | "conflict" {
  if (sent.ok) return "ok";
  return sent.error.status === 409 || sent.error.status === 404 ? "conflict" : "error";
}
