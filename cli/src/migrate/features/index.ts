/** A writer for each feature: a feature without one does not compile. */
import type { FeatureSlug } from "@svc-gateway/common/features/registry.ts";
import { unsayable, type FeatureWriter } from "../written.ts";
import { writeAuthBasicSecret, writeCors, writeIpAccessControl } from "./access.ts";
import { writeForwardingFields } from "./forwarding-fields.ts";
import { writeRequestHeaders, writeResponseHeaders } from "./headers.ts";
import { writeMaxBodySize, writeTimeouts } from "./limits.ts";
import { writeRedirect, writeSslRedirect } from "./redirects.ts";
import { writeRewriteTarget } from "./rewrite-target.ts";

export const featureWriters: { readonly [S in FeatureSlug]: FeatureWriter<S> } = {
  "trust-forwarded-for": () =>
    unsayable("trust-forwarded-for", "Trusted proxies cannot be written in migrated manifests"),
  "forwarding-fields": writeForwardingFields,
  "error-pages": () => unsayable("error-pages", "Error pages cannot be written in migrated manifests"),
  "closed-paths": () => unsayable("closed-paths", "Closed paths cannot be written", "closes"),
  "ip-access-control": writeIpAccessControl,
  "rate-limit": () => unsayable("rate-limit", "Limits of clients cannot be written", "closes"),
  "max-body-size": writeMaxBodySize,
  "auth-basic-secret": writeAuthBasicSecret,
  "mirror-target": () => unsayable("mirror-target", "Mirrors cannot be written in migrated manifests"),
  "auth-jwt": () => unsayable("auth-jwt", "Token rules cannot be written", "closes"),
  "ext-auth": () =>
    unsayable("ext-auth", "Authorization by a URL cannot be written in migrated manifests", "closes"),
  satisfy: () => unsayable("satisfy", "All checks must agree instead of any of them"),
  "request-headers": writeRequestHeaders,
  "response-headers": writeResponseHeaders,
  cors: writeCors,
  redirect: writeRedirect,
  retry: () => unsayable("retry", "Retries cannot be written in migrated manifests"),
  "rewrite-target": writeRewriteTarget,
  "ssl-redirect": writeSslRedirect,
  timeouts: writeTimeouts,
  compression: () => unsayable("compression", "Compression cannot be written in migrated manifests"),
};
