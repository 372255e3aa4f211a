import { z } from "zod";

/** Length of one key in bytes: 16 that identify it in tickets, 16 for the HMAC, 16 for AES. */
export const ticketKeyBytes = 48;

/** The keys of a scope for TLS session tickets (RFC 5077), base64. The first one encrypts, all of them decrypt. */
export const ticketKeysSchema = z.object({
  keys: z
    .array(
      z.base64().refine((text) => Buffer.from(text, "base64").length === ticketKeyBytes, "is not 48 bytes"),
    )
    .min(1)
    .max(3),
});

export type TicketKeys = { readonly keys: readonly string[] };
