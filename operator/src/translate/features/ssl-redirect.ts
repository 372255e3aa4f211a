import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { redirect } from "@svc-gateway/common/features/redirect.ts";
import { sslRedirect, type SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import { riskyAnnotation } from "../diagnostics/annotations.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

const { sslRedirect: wanted, sslRedirectCode: status } = sslRedirect.annotations;
const { redirectStatusCode } = redirect.annotations;

const servedInCleartext =
  `${annotationKey(wanted)}: is ignored because of ${annotationKey(redirectStatusCode)}, which redirects nothing by itself, ` +
  `so requests are served in cleartext; ${annotationKey(status)} sets the status`;

/**
 * The redirect of an Ingress's cleartext requests. Any redirect-* annotation takes precedence, even one that
 * redirects nothing on its own. See docs/features/ssl-redirect.md.
 */
export function translateSslRedirect(
  read: AnnotationReader,
  { httpsPublicPort, report }: FeatureContext,
): SslRedirect | undefined {
  const isOn = read(wanted) === true;
  const statusCode = read(status) ?? 308;
  if (!isOn) return undefined;
  const overriding = Object.values(redirect.annotations).filter((one) => read<unknown>(one) !== undefined);
  if (overriding.length === 0) return { port: httpsPublicPort, statusCode };
  if (overriding.every(({ name }) => name === redirectStatusCode.name))
    report(wanted, (place) => riskyAnnotation(place, servedInCleartext));
  return undefined;
}
