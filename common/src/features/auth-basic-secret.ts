import { z } from "zod";
import { defineAnnotation, defineProtection, defineTranslatedFeature } from "./definition.ts";
import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { formProblem, type Form } from "../values/form.ts";
import { ok } from "../values/result.ts";

/**
 * The user lists of a request, whose credentials must be those of a user of each list. See
 * docs/features/auth-basic-secret.md.
 */
export const authBasicSecretSchema = z
  .array(
    z.object({
      /**
       * The htpasswd resource of the snapshot: `namespace/name` of its Secret, and the format in which the Secret is
       * read. If it is absent, or missing from the snapshot, no password can be verified, and every request is answered
       * 503.
       */
      htpasswd: z.string().optional(),
      /** The realm of the challenge, without control characters, `"` and `\`; `Authentication required` if absent. */
      realm: z.string().optional(),
      /** Whether `Authorization` is withheld from upstreams; if absent, it is forwarded. */
      hidesCredentials: z.literal(true).optional(),
    }),
  )
  .min(1)
  .readonly();

export type AuthBasicSecret = z.infer<typeof authBasicSecretSchema>;

const realmForm: Form = {
  pattern: String.raw`^[ !#-\[\]-~]{1,256}$`,
  noun: "a realm",
  expected: String.raw`up to 256 printable ASCII characters without " and \ `.trim(),
};
const isRealm = new RegExp(realmForm.pattern);

/** The value for an invalid BasicAuth, whose Secret is not known. */
export const unknownUsers: AuthBasicSecret = [{}];

export const authBasicSecret = defineTranslatedFeature({
  slug: "auth-basic-secret",
  schema: authBasicSecretSchema,
  closing: unknownUsers,
  annotations: {
    authBasicSecret: defineProtection({
      name: "auth-basic-secret",
      resource: "Secret",
      gatewayApi: "`ExtensionRef` to BasicAuth",
      alsoInEvents: "a Secret that does not exist, is not permitted or is unusable; users with weak hashes",
      doc: "The htpasswd Secret with the users that may send requests.",
    }),
    realm: defineAnnotation({
      name: "auth-basic-realm",
      type: "string",
      builtIn: "`Authentication required`",
      gatewayApi: "[RouteOptions](../gateway-api.md#routeoptions)",
      classDefault: true,
      onInvalid: "ignore",
      fallback: 'the realm is "Authentication required"',
      doc: "The realm of the challenge (RFC 9110 11.5), which browsers show, with `auth-basic-secret`.",
      parse: (text) => (isRealm.test(text) ? ok(text) : formProblem(realmForm, text)),
    }),
    hidesCredentials: defineAnnotation({
      name: "auth-basic-hide-credentials",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "[RouteOptions](../gateway-api.md#routeoptions)",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "backends get the credentials of the client",
      doc: "Whether backends do not get `Authorization`, with `auth-basic-secret`.",
      parse: parseBoolean,
    }),
  },
});
