import { z } from "zod";
import { defineTranslatedFeature, defineProtection } from "./definition.ts";
import { requestTemplateSchema } from "./request-template.ts";

/** The longest body that is sent to such a service, in bytes. */
export const maxCheckedBodyBytes = 65_535;

/** A field of a check request. One whose value comes out empty is not sent. */
const checkFieldSchema = z.object({ name: z.string(), value: requestTemplateSchema });

/** Which answers are remembered, and for how long. */
const answerTimeSchema = z.object({
  /** Absent: of any status. */
  statuses: z.array(z.int()).readonly().optional(),
  /** In milliseconds; 0: they are not. */
  ms: z.int().min(0),
});

/** Answers that are remembered by a key. */
const answerCacheSchema = z.object({
  key: requestTemplateSchema,
  times: z.array(answerTimeSchema).readonly(),
});

/** How an `http` service is asked where that differs from the request. */
const httpQuestionSchema = z.object({
  /** Path and query; absent: those of the request. */
  target: requestTemplateSchema.optional(),
  /** `host[:port]`; absent: that of the request. */
  authority: requestTemplateSchema.optional(),
  /** Absent: that of the request. */
  method: z.string().optional(),
  /** Fields in place of those of the client and the proxy. */
  set: z.array(checkFieldSchema).readonly().optional(),
});

/** A service that authorizes each request. Header names are in lower case. */
export const externalCheckSchema = z.object({
  /** The endpoint set of the service (`namespace/service/port`), and how it is spoken to. */
  endpoints: z.string(),
  protocol: z.enum(["http1", "http2"]),
  /** `http`: a copy of the request's head. `grpc`: Envoy's `envoy.service.auth.v3.Authorization/Check`. */
  api: z.enum(["http", "grpc"]),
  timeoutMs: z.number().positive(),
  /** Whether a service that fails or does not answer in time means 503; else the request passes. */
  failClosed: z.boolean(),
  /** Fields of the client that the service gets; absent: all that go upstream. */
  allowedHeaders: z.array(z.string()).optional(),
  /**
   * Fields of an allowing answer that the upstream gets; never from the client. Absent: all but those that frame, route
   * or describe a message.
   */
  allowedResponseHeaders: z.array(z.string()).optional(),
  /** Fields of an allowing answer that are added to the response to the client; absent: none. */
  clientResponseHeaders: z.array(z.string()).optional(),
  /** Set in front of the path that an `http` service is asked with. */
  pathPrefix: z.string().optional(),
  /** Absent: method, path, query and Host are those of the request. */
  question: httpQuestionSchema.optional(),
  /** The URL that a client is redirected to in place of a 401. */
  signIn: requestTemplateSchema.optional(),
  /** Statuses that deny a request; any other one but 2xx is a failure of the service. Absent: every other one denies. */
  deniedStatuses: z.array(z.int()).readonly().optional(),
  /** Absent: no answer is remembered. */
  cache: answerCacheSchema.optional(),
  /** The service gets the body; a longer one, in bytes, is answered 413. Absent: it does not get the body. */
  maxBodyBytes: z.int().min(1).max(maxCheckedBodyBytes).optional(),
});

export type ExternalCheck = Readonly<z.infer<typeof externalCheckSchema>>;

/**
 * A URL that each request is checked with: 2xx admits it, 401 and 403 refuse it, everything else is 500. Names of headers are
 * in lower case. See docs/features/ext-auth.md, "By URL".
 */
export const urlCheckSchema = z.object({
  scheme: z.enum(["http", "https"]),
  /** `host[:port]`. */
  authority: requestTemplateSchema,
  /** Path and query. */
  target: requestTemplateSchema,
  /** The endpoint set that is asked; absent: only a host that the gateway serves itself is. */
  service: z
    .object({
      endpoints: z.string(),
      protocol: z.enum(["http1", "http2"]),
      /** Whether a host that the gateway serves itself comes first. */
      unlessServed: z.literal(true).optional(),
    })
    .optional(),
  method: z.string(),
  timeoutMs: z.number().positive(),
  /** Fields of the check request in place of those of the client. */
  set: z.array(checkFieldSchema).readonly(),
  /** Fields that upstreams get from an admitting answer, or not at all; never from the client. */
  responseHeaders: z.array(z.string()).readonly(),
  /** The URL that a client is redirected to in place of a 401. */
  signIn: requestTemplateSchema.optional(),
  /** Whether the cookie of the service goes to the client with any status; absent: not with most errors. */
  alwaysSetsCookie: z.literal(true).optional(),
  /** Absent: no answer is remembered. */
  cache: answerCacheSchema.optional(),
});

export type UrlCheck = Readonly<z.infer<typeof urlCheckSchema>>;

/**
 * The services that decide whether a request may pass, called one after another; all must agree. An entry with neither
 * `check` nor `url` is a service that cannot be called: every request is answered 503. See docs/features/ext-auth.md.
 */
export const extAuthSchema = z
  .array(z.object({ check: externalCheckSchema.optional(), url: urlCheckSchema.optional() }))
  .readonly();

export type ExtAuth = z.infer<typeof extAuthSchema>;

export const extAuth = defineTranslatedFeature({
  slug: "ext-auth",
  schema: extAuthSchema,
  annotations: {
    extAuth: defineProtection({
      name: "ext-auth",
      resource: "SvcExternalAuth",
      gatewayApi: "`ExternalAuth`, `ExtensionRef` to SvcExternalAuth",
      doc: "The SvcExternalAuth whose service authorizes each request.",
    }),
  },
});
