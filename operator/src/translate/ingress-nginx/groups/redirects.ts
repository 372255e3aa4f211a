/** Redirects to https. See docs/ingress-nginx.md, "https". */
import type { SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import {
  forceSslRedirect,
  preserveTrailingSlash,
  sslRedirect,
  usePortInRedirects,
} from "../annotations/redirects.ts";
import { isExempt } from "../exempt-paths.ts";
import type { Group } from "./group.ts";

/** The default port of https, which URLs omit. */
const noPort = 443;

export const redirects: Group = (read, { ingress, nginx, httpsPublicPort }) => {
  const isForced = read(forceSslRedirect) === true;
  const namesPort = read(usePortInRedirects) === true;
  const keepsSlash = read(preserveTrailingSlash) === true || namesPort;
  if (!isForced && read(sslRedirect) !== true) return {};
  const { httpRedirectCode, noTlsRedirectLocations } = nginx.config.keys;
  const value: SslRedirect = {
    ...(!keepsSlash && { cutSlash: true }),
    early: true,
    port: namesPort ? httpsPublicPort : noPort,
    statusCode: httpRedirectCode,
  };
  const features = { "ssl-redirect": value };
  return {
    onHost: (path, facts) =>
      (isForced || facts.hasTls) && !isExempt(path, noTlsRedirectLocations, ingress, facts)
        ? features
        : undefined,
  };
};
