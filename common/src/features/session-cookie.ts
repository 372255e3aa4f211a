import { z } from "zod";
import { shown } from "../values/clip.ts";
import { parseDnsName } from "../values/hostname.ts";
import { ok, problem, type Result } from "../values/result.ts";

/**
 * The attributes of a session cookie of the proxy, and the condition on which it is set again; for a route, or for the
 * policy of a Service. See docs/features/backend-policy.md, "Session persistence".
 */
export const sessionCookieSchema = z.object({
  path: z.string(),
  domain: z.string().optional(),
  /** Seconds from the response to the `Expires` of the cookie. */
  expiresSeconds: z.int().min(0).optional(),
  maxAgeSeconds: z.int().min(0).optional(),
  sameSite: z.enum(["None", "Lax", "Strict"]).optional(),
  /** Omits `SameSite=None` for browsers that interpret it as `Strict` or ignore the cookie. */
  omitsNoneIfMisread: z.literal(true).optional(),
  /**
   * Adds `Partitioned` if the cookie is `Secure`; browsers reject it otherwise
   * (draft-cutler-httpbis-partitioned-cookies).
   */
  partitioned: z.literal(true).optional(),
  /** Adds `Secure` also for clients without TLS; if absent, only for those with TLS. */
  alwaysSecure: z.literal(true).optional(),
  /**
   * Whether the session moves to another endpoint if its own fails. If absent, it does not, and retries for a session
   * of a route stay on that endpoint.
   */
  changesOnFailure: z.literal(true).optional(),
});

export type SessionCookie = Readonly<z.infer<typeof sessionCookieSchema>>;

// Octets that browsers accept in an attribute (RFC 6265 4.1.1: av-octet), without blanks.
const pathText = /^\/[!-:<-~]*$/;
const maxPathLength = 1024;

/**
 * Reads the `Path` of a cookie (RFC 6265 5.2.4). Browsers replace one without a leading slash by the path of the
 * request.
 */
export const parseCookiePath = (text: string): Result<string> =>
  pathText.test(text) && text.length <= maxPathLength
    ? ok(text)
    : problem(
        `"${shown(text)}" is not the path of a cookie`,
        `"/", followed by up to ${maxPathLength - 1} visible ASCII characters without semicolons`,
      );

/** Reads the `Domain` of a cookie (RFC 6265 5.2.3): a host name; a dot before it makes no difference. */
export function parseCookieDomain(text: string): Result<string> {
  const name = parseDnsName(text.startsWith(".") ? text.slice(1) : text);
  return name.ok
    ? name
    : problem(`"${shown(text)}" is not the domain of a cookie`, "a host name such as example.com");
}
