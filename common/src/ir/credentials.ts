import { z } from "zod";

/**
 * The users of an htpasswd Secret. It is a separate resource, so that a changed password changes no route. Hashes are
 * of the kinds of `readPasswordHash`, one character per octet; each user appears once. See
 * docs/features/auth-basic-secret.md.
 */
export const htpasswdSchema = z.object({
  users: z.array(z.object({ name: z.string(), hash: z.string() })).min(1),
});

export type Htpasswd = {
  readonly users: readonly { readonly name: string; readonly hash: string }[];
};

/** A public key that verifies signatures (RFC 7517, RFC 7518 section 6); without private members. */
export const publicKeySchema = z.object({
  kty: z.enum(["RSA", "EC", "OKP"]),
  /** The only algorithm with which the key is used. */
  alg: z.string(),
  kid: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
});

/**
 * The keys of a JwtAuth, sorted and without duplicates. It is a separate resource, so that a rotation changes no route.
 * See docs/features/auth-jwt.md.
 */
export const keySetSchema = z.object({
  /** The URL from which the keys are fetched; absent for keys that are part of the JwtAuth. */
  source: z.string().optional(),
  /**
   * The keys; absent until the controller has fetched them. A proxy that already has keys of the same source then keeps
   * those.
   */
  keys: z.array(publicKeySchema).optional(),
});

export type PublicKey = Readonly<z.infer<typeof publicKeySchema>>;
export type KeySet = {
  readonly source?: string | undefined;
  readonly keys?: readonly PublicKey[] | undefined;
};
