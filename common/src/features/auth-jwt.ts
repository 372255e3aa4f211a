import { z } from "zod";
import { defineTranslatedFeature, defineProtection } from "./definition.ts";

/** The rules for accepted tokens, and the claims that are forwarded upstream. Header names are as configured. */
export const tokenRulesSchema = z.object({
  /** The key set of the snapshot, by the `namespace/name` of the JwtAuth. */
  keySet: z.string(),
  issuer: z.string(),
  /** Values of which `aud` must contain at least one; an empty list disables the check. */
  audiences: z.array(z.string()),
  /** The headers that are searched for a token; the first one that the request has decides. */
  fromHeaders: z.array(z.object({ name: z.string(), prefix: z.string() })).min(1),
  /** Whether the header with the token is forwarded upstream. */
  forward: z.boolean(),
  claimToHeaders: z.array(z.object({ claim: z.string(), header: z.string() })),
  /** The header in which all claims are forwarded upstream. */
  payloadHeader: z.string().optional(),
});

export type TokenRules = Readonly<z.infer<typeof tokenRulesSchema>>;

/**
 * The token rules of a request; its token must satisfy each entry. An entry without `rules` cannot be checked, and
 * every request is answered 503. See docs/features/auth-jwt.md.
 */
export const authJwtSchema = z
  .array(z.object({ rules: tokenRulesSchema.optional() }))
  .min(1)
  .readonly();

export type AuthJwt = z.infer<typeof authJwtSchema>;

/** The value for an invalid JwtAuth, whose rules are not known. */
export const unknownRules: AuthJwt = [{}];

export const authJwt = defineTranslatedFeature({
  slug: "auth-jwt",
  schema: authJwtSchema,
  closing: unknownRules,
  annotations: {
    authJwt: defineProtection({
      name: "auth-jwt",
      resource: "JwtAuth",
      gatewayApi: "`ExtensionRef` to JwtAuth",
      doc: "The JwtAuth that requests must present a valid token for.",
    }),
  },
});
