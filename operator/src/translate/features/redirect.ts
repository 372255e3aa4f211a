import { redirect, type Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/**
 * Where an Ingress sends its requests. A status alone names no other place, so it redirects nothing. See
 * docs/features/redirect.md.
 */
export function translateRedirect(read: AnnotationReader): Redirect | undefined {
  const { redirectScheme, redirectHostname, redirectPort, redirectPath, redirectStatusCode } =
    redirect.annotations;
  const scheme = read(redirectScheme);
  const hostname = read(redirectHostname);
  const port = read(redirectPort);
  const path = read(redirectPath);
  const statusCode = read(redirectStatusCode) ?? 302;
  if (scheme === undefined && hostname === undefined && port === undefined && path === undefined) {
    return undefined;
  }
  return {
    ...(scheme && { scheme }),
    ...(hostname !== undefined && { hostname }),
    ...(port !== undefined && { port }),
    ...(path && { path }),
    statusCode,
  };
}
