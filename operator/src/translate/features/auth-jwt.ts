import { authJwt, unknownRules, type AuthJwt } from "@svc-gateway/common/features/auth-jwt.ts";
import { jwksKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { readJwtAuth } from "../credentials/jwt-auth.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { keySetNeedsKid, protectionUnavailable, resourcePartlyIgnored } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveProtection } from "./reference.ts";

/** The JwtAuth whose tokens admit a request; undefined without authentication. See docs/features/auth-jwt.md. */
export function translateAuthJwt(read: AnnotationReader, context: FeatureContext): AuthJwt | undefined {
  const definition = authJwt.annotations.authJwt;
  const resource = resolveProtection("JwtAuth", definition, read, context);
  if (resource === undefined) return undefined;
  if (resource === "invalid") return unknownRules;
  if (resource === "unavailable") return [{}];
  const name = formatNamespacedName(resource.metadata);
  const known = readJwtAuth(resource);
  if (!known.ok) {
    const why = `JwtAuth ${name} cannot be used: ${describeProblem(known.error)}`;
    context.reportWithEvent(definition, (place) => protectionUnavailable(place, why, definition.fallback));
    return [{}];
  }
  const { rules, keys, warnings, untried } = known.value;
  for (const warning of warnings) {
    context.report(definition, (place) => resourcePartlyIgnored(place, `JwtAuth ${name}: ${warning}`));
  }
  if (untried !== undefined) {
    context.report(definition, (place) => keySetNeedsKid(place, `JwtAuth ${name}: ${untried}`));
  }
  if ("inline" in keys) context.provide(encodeResource(jwksKey(name), keys.inline));
  else context.fetch(keys.remote);
  return [{ rules }];
}
