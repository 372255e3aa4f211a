import { z } from "zod";
import { defineTranslatedFeature, defineProtection } from "./definition.ts";

/**
 * The user lists of a request: its credentials must be those of a user of each. See docs/features/auth-basic-secret.md.
 */
export const authBasicSecretSchema = z
  .array(
    z.object({
      /**
       * The htpasswd resource of the snapshot: `namespace/name` of its Secret, and what it was read as. Absent: no password can be
       * verified, and every request is answered 503, as when the snapshot does not have the resource.
       */
      htpasswd: z.string().optional(),
      /** The realm of the challenge, without controls, `"` and `\`; absent: `Authentication required`. */
      realm: z.string().optional(),
      /** Whether upstreams do not get `Authorization`; absent: they do. */
      hidesCredentials: z.literal(true).optional(),
    }),
  )
  .min(1)
  .readonly();

export type AuthBasicSecret = z.infer<typeof authBasicSecretSchema>;

export const authBasicSecret = defineTranslatedFeature({
  slug: "auth-basic-secret",
  schema: authBasicSecretSchema,
  annotations: {
    authBasicSecret: defineProtection({
      name: "auth-basic-secret",
      resource: "Secret",
      gatewayApi: "`ExtensionRef` to BasicAuth",
      alsoInEvents: "a Secret that does not exist, is not permitted or is unusable; users with SHA-1 hashes",
      doc: "The htpasswd Secret with the users that may send requests.",
    }),
  },
});
