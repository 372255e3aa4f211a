import { z } from "zod";

/** Length of the key in bytes, equal to that of a SHA-256 hash. */
export const sessionKeyBytes = 32;

/** Whether a text is a key in base64. */
export const isSessionKey = (text: string): boolean =>
  z.base64().safeParse(text).success && Buffer.from(text, "base64").length === sessionKeyBytes;

/**
 * The key with which the proxies of the installation compute the values of session cookies, base64. See
 * docs/features/backend-policy.md.
 */
export const sessionKeySchema = z.object({
  key: z.string().refine(isSessionKey, "is not 32 bytes in base64"),
});

export type SessionKeyValue = { readonly key: string };
