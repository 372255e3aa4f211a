import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { fieldManager } from "../../../runtime/status-writer.ts";
import type { ApiClient } from "../../../sources/kubernetes/api-client.ts";
import { describeApiError } from "../../../sources/kubernetes/api-error.ts";

/** Keeps a Gateway until everything that was made for it is gone. */
export const finalizer = "gateway.svc-labs.dev/dedicated-cleanup";

export type FinalizerKeeper = {
  add(gateway: ObjectOf<"Gateway">, signal: AbortSignal): Promise<Result<string>>;
  remove(gateway: ObjectOf<"Gateway">, signal: AbortSignal): Promise<Result<string>>;
};

/** Statuses are written at the same time; an object that changes all the time is looked at again later. */
const maxAttempts = 4;

/** Changes the list only as it was read: the finalizers of others are theirs. */
export function createFinalizerKeeper(client: Pick<ApiClient, "call">): FinalizerKeeper {
  const change = async (
    gateway: ObjectOf<"Gateway">,
    next: (present: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<Result<string>> => {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const changed = await changeOnce(gateway, next, signal);
      if (changed !== "conflict") return changed;
    }
    return problem("the Gateway keeps changing");
  };

  const changeOnce = async (
    gateway: ObjectOf<"Gateway">,
    next: (present: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<Result<string> | "conflict"> => {
    const { namespace, name, uid } = gateway.metadata;
    const path = `/apis/${gateway.apiVersion}/namespaces/${namespace}/gateways/${name}`;
    const found = await client.call<ObjectOf<"Gateway">>(path, { signal });
    if (!found.ok) return found.error.status === 404 ? ok("gone") : problem(describeApiError(found.error));
    const { metadata } = found.value;
    if (metadata.uid !== uid) return ok("gone");
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
  const has = ({ metadata }: ObjectOf<"Gateway">): boolean =>
    metadata.finalizers?.includes(finalizer) === true;
  return {
    add: async (gateway, signal) =>
      has(gateway)
        ? ok("unchanged")
        : change(
            gateway,
            (present) => (present.includes(finalizer) ? present : [...present, finalizer]),
            signal,
          ),
    remove: async (gateway, signal) =>
      has(gateway)
        ? change(gateway, (present) => present.filter((one) => one !== finalizer), signal)
        : ok("unchanged"),
  };
}
