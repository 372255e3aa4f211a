/** The CORS filter of a rule. See docs/features/cors.md. */
import { defaultCorsMaxAgeSeconds, type Cors } from "@svc-gateway/common/features/cors.ts";
import { parseOriginPattern } from "@svc-gateway/common/values/origin.ts";
import type { HTTPRouteRuleFilterCors as Written } from "../../../api/generated/httproute.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { routeFieldIgnored } from "../../diagnostics/gateway.ts";
import type { FilterContext } from "./filter-context.ts";

/** Reads a CORS filter. Without origins, nothing is allowed. An invalid origin is ignored, with a finding. */
export function readCors(written: Written = {}, { place, findings }: FilterContext): Cors {
  const allowOrigins = (written.allowOrigins ?? []).filter((text) => {
    const read = text === "*" ? undefined : parseOriginPattern(text);
    if (read === undefined || read.ok) return true;
    findings.diagnostics.push(
      routeFieldIgnored(place, `allowOrigins: ${describeProblem(read.error)}; it is ignored`),
    );
    return false;
  });
  return {
    allowOrigins,
    allowCredentials: written.allowCredentials ?? false,
    allowMethods: written.allowMethods ?? [],
    allowHeaders: written.allowHeaders ?? [],
    exposeHeaders: written.exposeHeaders ?? [],
    maxAgeSeconds: written.maxAge ?? defaultCorsMaxAgeSeconds,
  };
}
