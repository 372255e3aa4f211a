import { z } from "zod";

/**
 * The users of an htpasswd Secret, a resource of its own so that a changed password changes no route. Hashes are bcrypt
 * (`$2a$`, `$2b$`, `$2y$`) or `{SHA}` with base64; no user stands twice. See docs/features/auth-basic-secret.md.
 */
export const htpasswdSchema = z.object({
  users: z.array(z.object({ name: z.string(), hash: z.string() })).min(1),
});

export type Htpasswd = {
  readonly users: readonly { readonly name: string; readonly hash: string }[];
};
