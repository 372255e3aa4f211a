import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { createFallbackSecret } from "../keys/fallback-certificate.ts";
import { describeApiError } from "../sources/kubernetes/api-client.ts";
import { fallbackSecret } from "../translate/ingress-nginx/fallback-certificate.ts";
import type { Build } from "../build/table-builder.ts";
import { createLookup } from "../world.ts";
import { fieldManager } from "../write/status-writer.ts";
import type { Reconciler } from "./reconciler.ts";
import type { SessionKeyOptions } from "./session-key-secret.ts";

/**
 * Creates the fallback certificate once a server name needs it. The Secret is created if it does not exist, and is
 * never changed, so that all replicas and proxies present the same certificate (docs/ingress-nginx.md, "Certificates").
 */
export function fallbackCertificateReconciler({ client, installNamespace }: SessionKeyOptions): Reconciler {
  const name = `${installNamespace}/${fallbackSecret}`;
  const isMissing = ({ world, translation }: Build): boolean =>
    translation.needsFallbackCertificate &&
    createLookup(world)("Secret", installNamespace, fallbackSecret) === undefined;
  return {
    controller: "secret",
    dirty: (previous, build) =>
      isMissing(build) && (previous === undefined || !isMissing(previous)) ? [name] : [],
    async reconcile(_name, { build, signal }) {
      if (!isMissing(build)) return ok("unchanged");
      const body = await createFallbackSecret(installNamespace, Date.now());
      const created = await client.call(`/api/v1/namespaces/${installNamespace}/secrets`, {
        method: "POST",
        query: { fieldManager },
        body,
        signal,
      });
      if (created.ok) return ok("created");
      return created.error.status === 409 ? ok("unchanged") : problem(describeApiError(created.error));
    },
  };
}
