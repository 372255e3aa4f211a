/** The writers of all features; a feature without a writer does not compile. */
import type { FeatureSlug } from "@svc-gateway/common/features/registry.ts";
import { policy, unsayable, type FeatureWriter } from "../written.ts";
import { writeAuthBasicSecret, writeCors, writeIpAccessControl } from "./access.ts";
import { writeClosedPaths } from "./closed-paths.ts";
import { writeExtAuth } from "./ext-auth.ts";
import { writeForwardingFields } from "./forwarding-fields.ts";
import { writeRequestHeaders, writeResponseHeaders } from "./headers.ts";
import { writeMaxBodySize, writeRateLimit, writeTimeouts } from "./limits.ts";
import { writeErrorPages, writeMirrorTarget } from "./services.ts";
import { writeRedirect, writeSslRedirect } from "./redirects.ts";
import { writeRetry } from "./retry.ts";
import { writeRewriteTarget } from "./rewrite-target.ts";
import { writeTrustForwardedFor } from "./trust-forwarded-for.ts";

export const featureWriters: { readonly [S in FeatureSlug]: FeatureWriter<S> } = {
  "trust-forwarded-for": writeTrustForwardedFor,
  "forwarding-fields": writeForwardingFields,
  "error-pages": writeErrorPages,
  "closed-paths": writeClosedPaths,
  "ip-access-control": writeIpAccessControl,
  "rate-limit": writeRateLimit,
  "max-body-size": writeMaxBodySize,
  "auth-basic-secret": writeAuthBasicSecret,
  "mirror-target": writeMirrorTarget,
  "auth-jwt": () => unsayable("auth-jwt", "Token rules cannot be written", "closes"),
  "ext-auth": writeExtAuth,
  satisfy: (value) => ({ annotations: { satisfy: value } }),
  "request-headers": writeRequestHeaders,
  "response-headers": writeResponseHeaders,
  cors: writeCors,
  redirect: writeRedirect,
  retry: writeRetry,
  "rewrite-target": writeRewriteTarget,
  "ssl-redirect": writeSslRedirect,
  timeouts: writeTimeouts,
  compression: (value, { define, namespace }) => ({
    annotations: { compression: `${namespace}/${define(policy("Compression", value))}` },
  }),
};
