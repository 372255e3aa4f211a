import { z } from "zod";
import { sessionCookieSchema } from "../features/session-cookie.ts";

/**
 * Keeps the sessions of a route on their endpoints by a cookie of the proxy, instead of the session persistence of the
 * Service, for this route only. See docs/features/backend-policy.md, "Sessions of a route".
 */
export const sessionAffinitySchema = z.object({
  /** The name of the cookie. */
  cookie: z.string(),
  ...sessionCookieSchema.shape,
});

export type SessionAffinity = Readonly<z.infer<typeof sessionAffinitySchema>>;
