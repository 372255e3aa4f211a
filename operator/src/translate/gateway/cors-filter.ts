import type { Cors } from "@svc-gateway/common/features/cors.ts";
import type { HTTPRouteRuleFilterCors as Written } from "../../api/generated/httproute.ts";

/** How long browsers remember the answer to a preflight unless the filter says (GEP-1767). */
const defaultMaxAgeSeconds = 5;

/** A CORS filter. Without origins nothing is allowed. */
export const readCors = (written: Written = {}): Cors => ({
  allowOrigins: written.allowOrigins ?? [],
  allowCredentials: written.allowCredentials ?? false,
  allowMethods: written.allowMethods ?? [],
  allowHeaders: written.allowHeaders ?? [],
  exposeHeaders: written.exposeHeaders ?? [],
  maxAgeSeconds: written.maxAge ?? defaultMaxAgeSeconds,
});
