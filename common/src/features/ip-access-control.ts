import { z } from "zod";
import { cidrTextSchema } from "./cidr-text.ts";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** The client addresses that are admitted. See docs/features/ip-access-control.md. */
export const ipAccessControlSchema = z.object({
  /** Whether the resource with the lists cannot be used; every request is then answered 503. */
  unavailable: z.literal(true).optional(),
  /** `namespace/name` of the resource with the lists, for the access log; absent if they are not from a resource. */
  name: z.string().optional(),
  /** The addresses that are rejected even if another check admits the client (`satisfy: any`); absent for none. */
  blocked: z.array(cidrTextSchema).optional(),
  /** The addresses that are rejected, even if `allow` contains them. */
  deny: z.array(cidrTextSchema),
  /** The only addresses that are admitted; an empty list admits no client. If absent, every client is admitted. */
  allow: z.array(cidrTextSchema).optional(),
});

export type IpAccessControl = Readonly<z.infer<typeof ipAccessControlSchema>>;

/** The value for an invalid resource, whose lists are not known. */
export const unknownAddresses: IpAccessControl = { unavailable: true, deny: [] };

export const ipAccessControl = defineTranslatedFeature({
  slug: "ip-access-control",
  schema: ipAccessControlSchema,
  closing: unknownAddresses,
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
