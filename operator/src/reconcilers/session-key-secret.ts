import { randomBytes } from "node:crypto";
import { sessionKeyBytes } from "@svc-gateway/common/ir/session-key.ts";
import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { type ApiClient, describeApiError } from "../sources/kubernetes/api-client.ts";
import { sessionKeyField, sessionKeySecret } from "../translate/backends/session-key.ts";
import { createLookup, type World } from "../world.ts";
import { fieldManager } from "../write/status-writer.ts";
import type { Reconciler } from "./reconciler.ts";

export type SessionKeyOptions = {
  readonly client: Pick<ApiClient, "call">;
  /** The namespace in which the controllers are installed. */
  readonly installNamespace: string;
};

/**
 * Creates the key of session cookies once. The Secret is created if it does not exist, and is never changed
 * (docs/features/backend-policy.md, "The key of the cookies").
 */
export function sessionKeyReconciler({ client, installNamespace }: SessionKeyOptions): Reconciler {
  const name = `${installNamespace}/${sessionKeySecret}`;
  const isMissing = (world: World): boolean =>
    createLookup(world)("Secret", installNamespace, sessionKeySecret) === undefined;
  return {
    controller: "secret",
    dirty: (previous, { world }) =>
      isMissing(world) && (previous === undefined || !isMissing(previous.world)) ? [name] : [],
    async reconcile(_name, { build, signal }) {
      if (!isMissing(build.world)) return ok("unchanged");
      const created = await client.call(`/api/v1/namespaces/${installNamespace}/secrets`, {
        method: "POST",
        query: { fieldManager },
        body: {
          apiVersion: "v1",
          kind: "Secret",
          metadata: {
            name: sessionKeySecret,
            labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/managed-by": "svc" },
          },
          type: "Opaque",
          data: { [sessionKeyField]: randomBytes(sessionKeyBytes).toString("base64") },
        },
        signal,
      });
      if (created.ok) return ok("created");
      return created.error.status === 409 ? ok("unchanged") : problem(describeApiError(created.error));
    },
  };
}
