import { z } from "zod";
import { shown } from "../values/clip.ts";
import { parseDnsName } from "../values/hostname.ts";
import { ok, problem, type Result } from "../values/result.ts";

/**
 * How the proxy sets the cookie of a session, and when it sets it again; of a route, or of the policy of a Service. See
 * docs/features/backend-policy.md, "Session persistence".
 */
export const sessionCookieSchema = z.object({
  path: z.string(),
  domain: z.string().optional(),
  /** Seconds from the response to the `Expires` of the cookie. */
  expiresSeconds: z.int().min(0).optional(),
  maxAgeSeconds: z.int().min(0).optional(),
  sameSite: z.enum(["None", "Lax", "Strict"]).optional(),
  /** `SameSite=None` is left out for browsers that take it for `Strict` or ignore the cookie. */
  omitsNoneIfMisread: z.literal(true).optional(),
  /** `Partitioned` where the cookie is `Secure`, without which browsers refuse it (draft-cutler-httpbis-partitioned-cookies). */
  partitioned: z.literal(true).optional(),
  /** `Secure` also for clients without TLS; absent: for those with TLS. */
  alwaysSecure: z.literal(true).optional(),
  /** Another endpoint takes over the session when its own fails; absent: retries stay with it. */
  changesOnFailure: z.literal(true).optional(),
});

export type SessionCookie = Readonly<z.infer<typeof sessionCookieSchema>>;

// Octets that a browser keeps in an attribute (RFC 6265 4.1.1: av-octet), without blanks.
const pathText = /^\/[!-:<-~]*$/;
const maxPathLength = 1024;

/** Reads the `Path` of a cookie (RFC 6265 5.2.4): browsers take another one for the path of the request. */
export const parseCookiePath = (text: string): Result<string> =>
  pathText.test(text) && text.length <= maxPathLength
    ? ok(text)
    : problem(
        `"${shown(text)}" is not the path of a cookie`,
        `"/", followed by up to ${maxPathLength - 1} visible ASCII characters without semicolons`,
      );

/** Reads the `Domain` of a cookie (RFC 6265 5.2.3): a host name, with or without a dot before it, which means the same. */
export function parseCookieDomain(text: string): Result<string> {
  const name = parseDnsName(text.startsWith(".") ? text.slice(1) : text);
  return name.ok
    ? name
    : problem(`"${shown(text)}" is not the domain of a cookie`, "a host name such as example.com");
}
