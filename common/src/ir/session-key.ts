import { z } from "zod";

/** Bytes of the key, as many as SHA-256 gives. */
export const sessionKeyBytes = 32;

/** Whether a text is a key in base64. */
export const isSessionKey = (text: string): boolean =>
  z.base64().safeParse(text).success && Buffer.from(text, "base64").length === sessionKeyBytes;

/** The key of the installation with which session cookies are made, base64. See docs/features/backend-policy.md. */
export const sessionKeySchema = z.object({
  key: z.string().refine(isSessionKey, "is not 32 bytes in base64"),
});

export type SessionKeyValue = { readonly key: string };
