/** Sessions that stay with one endpoint. See docs/ingress-nginx.md, "Sessions". */
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import { cookiePathExpression } from "../../diagnostics/nginx-backends.ts";
import {
  affinity,
  affinityMode,
  sessionCookieChangeOnFailure,
  sessionCookieConditionalSamesiteNone,
  sessionCookieDomain,
  sessionCookieExpires,
  sessionCookieMaxAge,
  sessionCookieName,
  sessionCookiePath,
  sessionCookieSamesite,
  sessionCookieSecure,
} from "../annotations/balancing.ts";
import type { NginxReader } from "../reader.ts";
import type { Group, GroupContext, NginxPath } from "./group.ts";
import { reportPartners } from "./partners.ts";

const ofCookie = [
  affinityMode,
  sessionCookieName,
  sessionCookiePath,
  sessionCookieDomain,
  sessionCookieExpires,
  sessionCookieMaxAge,
  sessionCookieSamesite,
  sessionCookieSecure,
  sessionCookieConditionalSamesiteNone,
  sessionCookieChangeOnFailure,
];

export const sessions: Group = (read, context) => {
  if (read(affinity) !== "cookie") {
    reportPartners(ofCookie, "has no effect without affinity: cookie", read, context);
    return {};
  }
  const cookie = readCookie(read, context);
  const path = read(sessionCookiePath);
  return { route: (route, at) => ({ ...route, affinity: { ...cookie, path: path ?? pathOf(at, context) } }) };
};

function readCookie(read: NginxReader, context: GroupContext): Omit<SessionAffinity, "path"> {
  const domain = read(sessionCookieDomain);
  const expiresSeconds = read(sessionCookieExpires);
  const maxAgeSeconds = read(sessionCookieMaxAge);
  const written = read(sessionCookieSamesite);
  const sameSite = written === "None" || written === "Lax" || written === "Strict" ? written : undefined;
  if (written !== undefined && sameSite === undefined) {
    context.noEffect(sessionCookieSamesite, `only None, Lax and Strict are sent, not ${written}`);
  }
  return {
    cookie: read(sessionCookieName) ?? "INGRESSCOOKIE",
    ...(domain !== undefined && { domain }),
    ...(expiresSeconds !== undefined && { expiresSeconds }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    ...(sameSite && { sameSite }),
    ...(read(sessionCookieConditionalSamesiteNone) === true && { omitsNoneIfMisread: true }),
    ...(read(sessionCookieSecure) === true && { alwaysSecure: true }),
    ...(read(sessionCookieChangeOnFailure) === true && { changesOnFailure: true }),
  };
}

/** A path that a browser can compare with the path of a request. */
const literalPath = /^\/[\w\-.~/%!&'@:+=]*$/;

function pathOf({ written }: NginxPath, context: GroupContext): string {
  if (literalPath.test(written)) return written;
  context.report(affinity, (place) => cookiePathExpression(place, written));
  return "/";
}
