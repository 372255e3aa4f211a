import { z } from "zod";
import { cidrTextSchema } from "./cidr-text.ts";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** Which client addresses are admitted. See docs/features/ip-access-control.md. */
export const ipAccessControlSchema = z.object({
  /** The resource with the lists cannot be used: every request is answered 503. */
  unavailable: z.literal(true).optional(),
  /** `namespace/name` of the resource with the lists, for the access log; absent: they are of no resource. */
  name: z.string().optional(),
  /** Rejected, even if `allow` has them. */
  deny: z.array(cidrTextSchema),
  /** Only these are admitted; an empty list admits no client. Absent: every client. */
  allow: z.array(cidrTextSchema).optional(),
});

export type IpAccessControl = Readonly<z.infer<typeof ipAccessControlSchema>>;

export const ipAccessControl = defineTranslatedFeature({
  slug: "ip-access-control",
  schema: ipAccessControlSchema,
  annotations: {
    ipAccessControl: defineReference({
      name: "ip-access-control",
      resource: "IpAccessControl",
      restricts: true,
      builtIn: "every address",
      gatewayApi: "`ExtensionRef` to IpAccessControl",
      fallback: "clients of every address are allowed",
      doc: "The IpAccessControl that lists allowed and denied client addresses.",
    }),
  },
});
