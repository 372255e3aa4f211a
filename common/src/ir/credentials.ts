import { z } from "zod";

/**
 * The users of an htpasswd Secret, a resource of its own so that a changed password changes no route. Hashes are of the
 * kinds of `readPasswordHash`, one character per octet; each user appears once. See docs/features/auth-basic-secret.md.
 */
export const htpasswdSchema = z.object({
  users: z.array(z.object({ name: z.string(), hash: z.string() })).min(1),
});

export type Htpasswd = {
  readonly users: readonly { readonly name: string; readonly hash: string }[];
};

/** A public key that signatures are checked with (RFC 7517, RFC 7518 section 6); without private members. */
export const publicKeySchema = z.object({
  kty: z.enum(["RSA", "EC", "OKP"]),
  /** The one algorithm that the key is used with. */
  alg: z.string(),
  kid: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
});

/**
 * The keys of a JwtAuth, sorted, each once, a resource of its own so that a rotation changes no route. See
 * docs/features/auth-jwt.md.
 */
export const keySetSchema = z.object({
  /** The URL that the keys are fetched from; absent for keys that are part of the JwtAuth. */
  source: z.string().optional(),
  /** Absent while the controller has not fetched them yet: a proxy that has keys of the same source keeps them. */
  keys: z.array(publicKeySchema).optional(),
});

export type PublicKey = Readonly<z.infer<typeof publicKeySchema>>;
export type KeySet = {
  readonly source?: string | undefined;
  readonly keys?: readonly PublicKey[] | undefined;
};
