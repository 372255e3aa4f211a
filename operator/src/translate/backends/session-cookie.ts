/** The attributes of the session cookie of a SvcBackendPolicy. See docs/features/backend-policy.md, "Cookie". */
import {
  parseCookieDomain,
  parseCookiePath,
  type SessionCookie,
} from "@svc-gateway/common/features/session-cookie.ts";
import type { SvcBackendPolicySpec } from "../../api/generated/svcbackendpolicy.ts";
import type { IgnoreValue } from "../diagnostics/policies.ts";

type CookieSpec = NonNullable<NonNullable<SvcBackendPolicySpec["sessionPersistence"]>["cookie"]>;

/** Reads the attributes; undefined if all have their defaults, so that equal settings have equal forms. */
export function readSessionCookie(
  spec: CookieSpec,
  field: string,
  ignore: IgnoreValue,
): SessionCookie | undefined {
  const { maxAgeSeconds, expiresSeconds, sameSite } = spec;
  const path = spec.path === undefined ? undefined : parseCookiePath(spec.path);
  if (path?.ok === false) ignore(`${field}.path`, path.error, "/ applies");
  const domain = spec.domain === undefined ? undefined : parseCookieDomain(spec.domain);
  if (domain?.ok === false) ignore(`${field}.domain`, domain.error, "the cookie has no Domain");
  const attributes: Omit<SessionCookie, "path"> = {
    ...(domain?.ok === true && { domain: domain.value }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    ...(expiresSeconds !== undefined && { expiresSeconds }),
    ...(sameSite !== undefined && { sameSite }),
    ...(spec.omitNoneIfMisread === true && { omitsNoneIfMisread: true }),
    ...(spec.partitioned === true && { partitioned: true }),
    ...(spec.alwaysSecure === true && { alwaysSecure: true }),
    ...(spec.changeOnFailure === true && { changesOnFailure: true }),
  };
  const usedPath = path?.ok === true ? path.value : "/";
  return usedPath === "/" && Object.keys(attributes).length === 0
    ? undefined
    : { path: usedPath, ...attributes };
}
