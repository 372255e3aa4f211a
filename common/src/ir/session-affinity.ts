import { z } from "zod";

/**
 * Keeps the sessions of a route on their endpoints by a cookie of the proxy; instead of the session persistence of the Service,
 * for this route only. See docs/features/backend-policy.md, "Sessions of a route".
 */
export const sessionAffinitySchema = z.object({
  /** The name of the cookie. */
  cookie: z.string(),
  path: z.string(),
  domain: z.string().optional(),
  /** Seconds from the response to the `Expires` of the cookie. */
  expiresSeconds: z.int().min(0).optional(),
  maxAgeSeconds: z.int().min(0).optional(),
  sameSite: z.enum(["None", "Lax", "Strict"]).optional(),
  /** `SameSite=None` is left out for browsers that take it for `Strict` or ignore the cookie. */
  omitsNoneIfMisread: z.literal(true).optional(),
  /** `Secure` also for clients without TLS; absent: for those with TLS. */
  alwaysSecure: z.literal(true).optional(),
  /** Another endpoint takes over the session when its own fails; absent: retries stay with it. */
  changesOnFailure: z.literal(true).optional(),
});

export type SessionAffinity = Readonly<z.infer<typeof sessionAffinitySchema>>;
