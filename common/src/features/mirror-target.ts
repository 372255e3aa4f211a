import { shown } from "../values/clip.ts";
import { z } from "zod";
import { isNamespaceName } from "../values/namespaced-name.ts";
import { parsePort } from "../values/port.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineTranslatedFeature } from "./definition.ts";
import { requestTemplateSchema } from "./request-template.ts";

/** A URL to which copies are sent, instead of that of the request. */
const mirrorUrlSchema = z.object({
  scheme: z.enum(["http", "https"]),
  /** The `Host` of copies: `host[:port]`. */
  authority: requestTemplateSchema,
  /** Path and query. */
  target: requestTemplateSchema,
  withoutBody: z.literal(true).optional(),
  /**
   * Whether a host that the gateway itself serves gets copies through its own routes, in preference to any endpoint.
   */
  servedHosts: z.literal(true).optional(),
});

/** The targets to which a route's requests are copied. See docs/features/mirror-target.md. */
export const mirrorTargetSchema = z
  .array(
    z.object({
      /** `namespace/name` of the Service, or the host of the URL, for logs and metrics. */
      service: z.string(),
      /**
       * Name of the endpoint set, `namespace/service/port`; if absent, only a host that the gateway itself serves gets
       * copies.
       */
      endpoints: z.string().optional(),
      /** The protocol, as for a backend. */
      protocol: z.enum(["http1", "http2"]),
      /** The share of requests that is copied, drawn for each request; all if absent. */
      fraction: z.object({ numerator: z.int().min(0), denominator: z.int().min(1) }).optional(),
      /** The URL of copies; if absent, that of the request, with its host. */
      url: mirrorUrlSchema.optional(),
    }),
  )
  .min(1);

export type MirrorTarget = z.infer<typeof mirrorTargetSchema>;

/** A Service, addressed by a cluster-internal host name; `port` is absent if the value has none. */
export type ServiceAddress = {
  readonly namespace: string;
  readonly name: string;
  readonly port: number | undefined;
};

const suffixes = ["", ".svc", ".svc.cluster.local"];

/** Reads `<service>.<namespace>[.svc[.cluster.local]][:<port>]`. */
export function parseServiceAddress(text: string): Result<ServiceAddress> {
  const colon = text.indexOf(":");
  const host = colon < 0 ? text : text.slice(0, colon);
  const [name = "", namespace = ""] = host.split(".", 2);
  const suffix = host.slice(name.length + 1 + namespace.length);
  if (isNamespaceName(name) && isNamespaceName(namespace) && suffixes.includes(suffix)) {
    if (colon < 0) return ok({ namespace, name, port: undefined });
    const port = parsePort(text.slice(colon + 1));
    if (port.ok) return ok({ namespace, name, port: port.value });
  }
  return problem(
    `"${shown(text)}" is not a Service`,
    '"<service>.<namespace>[.svc[.cluster.local]][:<port>]"',
  );
}

export const mirrorTarget = defineTranslatedFeature({
  slug: "mirror-target",
  schema: mirrorTargetSchema,
  annotations: {
    mirrorTarget: defineAnnotation({
      name: "mirror-target",
      type: "mirror-target",
      builtIn: "no mirroring",
      gatewayApi: "`RequestMirror`",
      resource: "Service",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "requests are not mirrored",
      doc: "The Service of the same namespace that receives a copy of every request; its responses are discarded.",
      parse: parseServiceAddress,
    }),
  },
});
