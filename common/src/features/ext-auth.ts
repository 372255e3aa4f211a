import { z } from "zod";
import { defineFeature, defineProtection } from "./definition.ts";

/** A service that is asked about each request. Header names are in lower case. */
export const externalCheckSchema = z.object({
  /** The endpoint set of the service (`namespace/service/port`), and how it is spoken to. */
  endpoints: z.string(),
  protocol: z.enum(["http1", "http2"]),
  timeoutMs: z.number().positive(),
  /** Whether a service that fails or does not answer in time means 503; else the request passes. */
  failClosed: z.boolean(),
  /** Fields of the client that the service gets. */
  allowedHeaders: z.array(z.string()),
  /** Fields of an allowing answer that the upstream gets; never from the client. */
  allowedResponseHeaders: z.array(z.string()),
});

export type ExternalCheck = Readonly<z.infer<typeof externalCheckSchema>>;

/** Who is asked whether a request may pass. See docs/features/ext-auth.md. */
export const extAuthSchema = z.object({
  /** Absent: nobody can be asked and every request is answered 503. */
  check: externalCheckSchema.optional(),
});

export type ExtAuth = Readonly<z.infer<typeof extAuthSchema>>;

export const extAuth = defineFeature({
  slug: "ext-auth",
  schema: extAuthSchema,
  annotations: {
    extAuth: defineProtection({
      name: "ext-auth",
      resource: "SvcExternalAuth",
      gatewayApi: "`ExternalAuth`, `ExtensionRef` to SvcExternalAuth",
      doc: "The SvcExternalAuth whose service is asked about each request.",
    }),
  },
});
