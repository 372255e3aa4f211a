import { z } from "zod";
import { shown } from "../values/clip.ts";
import { splitCsv } from "../values/list.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineTranslatedFeature } from "./definition.ts";
import { parseServiceAddress } from "./mirror-target.ts";

/** A Service that answers instead of the backend. */
const pageServiceSchema = z.object({
  /** `namespace/name`, for logs and metrics. */
  service: z.string(),
  /** Name of the endpoint set, `namespace/service/port`. */
  endpoints: z.string(),
  /** The protocol, as for a backend. */
  protocol: z.enum(["http1", "http2"]),
});

/**
 * The errors that are replaced by the answer of a Service, and the requests that a Service answers instead of the
 * backend. See docs/features/error-pages.md.
 */
export const errorPagesSchema = z.object({
  /** Statuses that are replaced, 400 to 599. */
  codes: z.array(z.int().min(400).max(599)),
  /** The Service; if absent, an error of the backend is replaced by the proxy's own answer with the same status. */
  page: pageServiceSchema.optional(),
  /** Whether only errors of the proxy itself are replaced, and not those of backends. */
  ownOnly: z.literal(true).optional(),
  /** The Service that gets requests whose backend has no endpoint; if absent, they are answered 503. */
  standIn: pageServiceSchema.optional(),
  /** Fields that are sent to the Service in addition to those about the request. */
  fields: z.array(z.object({ name: z.string(), value: z.string() })),
});

export type ErrorPages = Readonly<z.infer<typeof errorPagesSchema>>;

const maxCodes = 200;
const expectedCodes = `statuses from 400 to 599, separated by commas`;

function parseCodes(text: string): Result<readonly number[]> {
  const items = splitCsv(text);
  const bad = items.find((item) => !/^[45]\d\d$/.test(item));
  if (bad !== undefined) return problem(`"${shown(bad)}" is no status of an error`, expectedCodes);
  const codes = [...new Set(items.map(Number))].sort((a, b) => a - b);
  return codes.length === 0 || codes.length > maxCodes
    ? problem("the list is empty", expectedCodes)
    : ok(codes);
}

export const errorPages = defineTranslatedFeature({
  slug: "error-pages",
  schema: errorPagesSchema,
  annotations: {
    codes: defineAnnotation({
      name: "error-pages",
      type: "csv",
      builtIn: "none",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "no error is replaced",
      doc: "Statuses, 400 to 599, of backends and of the gateway that are replaced by the answer of `error-pages-backend`.",
      parse: parseCodes,
    }),
    backend: defineAnnotation({
      name: "error-pages-backend",
      type: "mirror-target",
      builtIn: "none",
      gatewayApi: "none",
      resource: "Service",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the gateway answers errors itself",
      doc: "The Service of the same namespace that answers in place of errors, and of backends without endpoints.",
      parse: parseServiceAddress,
    }),
  },
});
