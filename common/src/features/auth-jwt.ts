import { z } from "zod";
import { defineTranslatedFeature, defineProtection } from "./definition.ts";

/** Which tokens are accepted and what the upstream learns of them. Header names are as written. */
export const tokenRulesSchema = z.object({
  /** The key set of the snapshot, by the `namespace/name` of the JwtAuth. */
  keySet: z.string(),
  issuer: z.string(),
  /** Any of these has to be in `aud`; an empty list: not checked. */
  audiences: z.array(z.string()),
  /** Where tokens are looked for; the first header that the request has decides. */
  fromHeaders: z.array(z.object({ name: z.string(), prefix: z.string() })).min(1),
  /** Whether the header with the token is forwarded upstream. */
  forward: z.boolean(),
  claimToHeaders: z.array(z.object({ claim: z.string(), header: z.string() })),
  /** Header that carries all claims upstream. */
  payloadHeader: z.string().optional(),
});

export type TokenRules = Readonly<z.infer<typeof tokenRulesSchema>>;

/**
 * The token rules of a request: its token must satisfy each entry. An entry without `rules` cannot be checked: every
 * request is answered 503. See docs/features/auth-jwt.md.
 */
export const authJwtSchema = z
  .array(z.object({ rules: tokenRulesSchema.optional() }))
  .min(1)
  .readonly();

export type AuthJwt = z.infer<typeof authJwtSchema>;

export const authJwt = defineTranslatedFeature({
  slug: "auth-jwt",
  schema: authJwtSchema,
  annotations: {
    authJwt: defineProtection({
      name: "auth-jwt",
      resource: "JwtAuth",
      gatewayApi: "`ExtensionRef` to JwtAuth",
      doc: "The JwtAuth that requests must present a valid token for.",
    }),
  },
});
