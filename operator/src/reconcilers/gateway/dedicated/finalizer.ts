import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { type ApiClient, describeApiError } from "../../../sources/kubernetes/api-client.ts";
import { fieldManager } from "../../../write/status-writer.ts";

/** Keeps a Gateway until all objects that were created for it are deleted. */
export const finalizer = "gateway.svc-labs.dev/dedicated-cleanup";

/** Keeps a GatewayClass until its Gateways are deleted (Gateway API, GatewayClass). */
export const classFinalizer = "gateway-exists-finalizer.gateway.networking.k8s.io";

type Finalized = ObjectOf<"Gateway"> | ObjectOf<"GatewayClass">;

export type FinalizerKeeper = {
  add(object: Finalized, signal: AbortSignal): Promise<Result<string>>;
  remove(object: Finalized, signal: AbortSignal): Promise<Result<string>>;
};

/** Whether an object has a finalizer. */
export const hasFinalizer = ({ metadata }: Finalized, name: string): boolean =>
  metadata.finalizers?.includes(name) === true;

const pathOf = ({ apiVersion, kind, metadata }: Finalized): string =>
  kind === "GatewayClass"
    ? `/apis/${apiVersion}/gatewayclasses/${metadata.name}`
    : `/apis/${apiVersion}/namespaces/${metadata.namespace}/gateways/${metadata.name}`;

/**
 * The largest number of attempts. Statuses are written at the same time; an object that keeps changing is retried
 * later.
 */
const maxAttempts = 4;

/**
 * Creates a keeper of one finalizer. It changes the list only in the version that was read, so that finalizers of
 * others are kept.
 */
export function createFinalizerKeeper(client: Pick<ApiClient, "call">, name: string): FinalizerKeeper {
  const change = async (
    object: Finalized,
    next: (present: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<Result<string>> => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const changed = await changeOnce(object, next, signal);
      if (changed !== "conflict") return changed;
    }
    return problem(
      `finalizers not updated: the ${object.kind} changed during each of ${maxAttempts} attempts`,
    );
  };

  const changeOnce = async (
    object: Finalized,
    next: (present: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<Result<string> | "conflict"> => {
    const path = pathOf(object);
    const found = await client.call<Finalized>(path, { signal });
    if (!found.ok) return found.error.status === 404 ? ok("gone") : problem(describeApiError(found.error));
    const { metadata } = found.value;
    if (metadata.uid !== object.metadata.uid) return ok("gone");
    const present = metadata.finalizers ?? [];
    const finalizers = next(present);
    if (finalizers.length === present.length) return ok("unchanged");
    const patched = await client.call(path, {
      method: "PATCH",
      patch: "merge",
      query: { fieldManager },
      body: { metadata: { resourceVersion: metadata.resourceVersion, finalizers } },
      signal,
    });
    if (!patched.ok && patched.error.status === 409) return "conflict";
    return patched.ok || patched.error.status === 404
      ? ok("updated")
      : problem(describeApiError(patched.error));
  };
  return {
    add: async (object, signal) =>
      hasFinalizer(object, name)
        ? ok("unchanged")
        : change(object, (present) => (present.includes(name) ? present : [...present, name]), signal),
    remove: async (object, signal) =>
      hasFinalizer(object, name)
        ? change(object, (present) => present.filter((one) => one !== name), signal)
        : ok("unchanged"),
  };
}
