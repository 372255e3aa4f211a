import { z } from "zod";
import { defineTranslatedFeature, defineProtection } from "./definition.ts";
import { requestTemplateSchema } from "./request-template.ts";

/** The maximum size of a body that is sent to an authorization service, in bytes. */
export const maxCheckedBodyBytes = 65_535;

/** A field of a check request; not sent if its value is empty. */
const checkFieldSchema = z.object({ name: z.string(), value: requestTemplateSchema });

/** The answers that are cached, and for how long. */
const answerTimeSchema = z.object({
  /** The statuses of cached answers; any status if absent. */
  statuses: z.array(z.int()).readonly().optional(),
  /** The time in the cache, in milliseconds; 0 disables caching. */
  ms: z.int().min(0),
});

/** The cache of answers, with its key. */
const answerCacheSchema = z.object({
  key: requestTemplateSchema,
  times: z.array(answerTimeSchema).readonly(),
});

/** The parts of a request to an `http` service that differ from the client's request. */
const httpQuestionSchema = z.object({
  /** Path and query; those of the client's request if absent. */
  target: requestTemplateSchema.optional(),
  /** `host[:port]`; that of the client's request if absent. */
  authority: requestTemplateSchema.optional(),
  /** The method; that of the client's request if absent. */
  method: z.string().optional(),
  /** Fields that replace those of the client and the proxy. */
  set: z.array(checkFieldSchema).readonly().optional(),
});

/** A service that authorizes each request. Header names are in lower case. */
export const externalCheckSchema = z.object({
  /** The endpoint set of the service (`namespace/service/port`). */
  endpoints: z.string(),
  protocol: z.enum(["http1", "http2"]),
  /**
   * The API of the service. `http`: it gets a copy of the request's head. `grpc`: it implements Envoy's
   * `envoy.service.auth.v3.Authorization/Check`.
   */
  api: z.enum(["http", "grpc"]),
  timeoutMs: z.number().positive(),
  /** Whether requests are answered 503 if the service fails or does not answer in time; otherwise they pass. */
  failClosed: z.boolean(),
  /** Fields of the client that are sent to the service; if absent, all fields that are forwarded upstream. */
  allowedHeaders: z.array(z.string()).optional(),
  /**
   * Fields of an allowing answer that are forwarded upstream, and never accepted from the client. If absent, all except
   * those that frame, route or describe a message.
   */
  allowedResponseHeaders: z.array(z.string()).optional(),
  /** Fields of an allowing answer that are added to the response to the client; none if absent. */
  clientResponseHeaders: z.array(z.string()).optional(),
  /** The prefix of the path in requests to an `http` service. */
  pathPrefix: z.string().optional(),
  /**
   * The differences between the request to an `http` service and the client's request; if absent, method, path, query
   * and Host are the same.
   */
  question: httpQuestionSchema.optional(),
  /** The URL to which a client is redirected instead of getting a 401. */
  signIn: requestTemplateSchema.optional(),
  /**
   * Statuses that deny a request. Any other status except 2xx is a failure of the service. If absent, every status
   * except 2xx denies.
   */
  deniedStatuses: z.array(z.int()).readonly().optional(),
  /** The cache of answers; if absent, no answer is cached. */
  cache: answerCacheSchema.optional(),
  /**
   * The maximum size, in bytes, of a body that is sent to the service; requests with a longer one are answered 413. If
   * absent, the body is not sent.
   */
  maxBodyBytes: z.int().min(1).max(maxCheckedBodyBytes).optional(),
});

export type ExternalCheck = Readonly<z.infer<typeof externalCheckSchema>>;

/**
 * A URL by which each request is checked: 2xx admits it, 401 and 403 reject it, and any other status is answered 500.
 * Names of headers are in lower case. See docs/features/ext-auth.md, "By URL".
 */
export const urlCheckSchema = z.object({
  scheme: z.enum(["http", "https"]),
  /** `host[:port]`. */
  authority: requestTemplateSchema,
  /** Path and query. */
  target: requestTemplateSchema,
  /** The endpoint set to which the check is sent; if absent, only hosts that the gateway itself serves can be asked. */
  service: z
    .object({
      endpoints: z.string(),
      protocol: z.enum(["http1", "http2"]),
      /** Whether a host that the gateway itself serves takes precedence over the endpoint set. */
      unlessServed: z.literal(true).optional(),
    })
    .optional(),
  method: z.string(),
  timeoutMs: z.number().positive(),
  /** Fields of the check request that replace those of the client. */
  set: z.array(checkFieldSchema).readonly(),
  /**
   * Fields of an admitting answer that are forwarded upstream. Fields of these names are never accepted from the
   * client.
   */
  responseHeaders: z.array(z.string()).readonly(),
  /** The URL to which a client is redirected instead of getting a 401. */
  signIn: requestTemplateSchema.optional(),
  /** Whether the cookie of the service is added to responses of any status; if absent, most errors are excluded. */
  alwaysSetsCookie: z.literal(true).optional(),
  /** The cache of answers; if absent, no answer is cached. */
  cache: answerCacheSchema.optional(),
});

export type UrlCheck = Readonly<z.infer<typeof urlCheckSchema>>;

/**
 * The services that authorize a request, called sequentially; all must agree. An entry with neither `check` nor `url`
 * is a service that cannot be called, and every request is answered 503. See docs/features/ext-auth.md.
 */
export const extAuthSchema = z
  .array(
    z.object({
      check: externalCheckSchema.optional(),
      url: urlCheckSchema.optional(),
      /**
       * Whether the service must agree even if another check is enough (docs/features/satisfy.md). Set for services
       * that are not the route's own, such as that of its Gateway.
       */
      required: z.literal(true).optional(),
    }),
  )
  .readonly();

export type ExtAuth = z.infer<typeof extAuthSchema>;

/** An authorization service that cannot be called and that no other check replaces: every request is answered 503. */
export const closedService: ExtAuth = [{ required: true }];

export const extAuth = defineTranslatedFeature({
  slug: "ext-auth",
  schema: extAuthSchema,
  closing: closedService,
  annotations: {
    extAuth: defineProtection({
      name: "ext-auth",
      resource: "SvcExternalAuth",
      gatewayApi: "`ExternalAuth`, `ExtensionRef` to SvcExternalAuth",
      doc: "The SvcExternalAuth whose service authorizes each request.",
    }),
  },
});
