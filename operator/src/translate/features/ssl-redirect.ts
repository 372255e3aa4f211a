import { redirect } from "@svc-gateway/common/features/redirect.ts";
import { sslRedirect, type SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

/**
 * The redirect of an Ingress's cleartext requests. Any redirect-* annotation decides where requests go instead, also
 * one that redirects nothing by itself. See docs/features/ssl-redirect.md.
 */
export function translateSslRedirect(
  read: AnnotationReader,
  { httpsPublicPort }: FeatureContext,
): SslRedirect | undefined {
  const isOn = read(sslRedirect.annotations.sslRedirect) === true;
  const statusCode = read(sslRedirect.annotations.sslRedirectCode) ?? 308;
  const overridden = Object.values(redirect.annotations).some(
    (definition) => read<unknown>(definition) !== undefined,
  );
  return isOn && !overridden ? { port: httpsPublicPort, statusCode } : undefined;
}
