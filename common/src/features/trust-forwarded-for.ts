import { z } from "zod";
import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { formatCidr, readCidrs } from "../values/cidr.ts";
import { formProblem, type Form } from "../values/form.ts";
import { parseHeaderName } from "../values/header-name.ts";
import { splitCsv } from "../values/list.ts";
import { ok, type Result } from "../values/result.ts";
import { cidrTextSchema } from "./cidr-text.ts";
import { defineAnnotation, defineTranslatedFeature, type Warn } from "./definition.ts";

/** The default header for the address of the client. */
export const defaultForwardedForHeader = "X-Forwarded-For";

/** The source of the client's address. See docs/features/trust-forwarded-for.md. */
export const trustForwardedForSchema = z.object({
  header: z.string(),
  /** The peers whose header is trusted, never an empty list; if absent, every peer is trusted. */
  trustedCidrs: z.array(cidrTextSchema).min(1).optional(),
  /**
   * Whether the scheme, host and port that a trusted peer forwards are used, for redirects and upstream. If absent,
   * only `X-Forwarded-Proto` is used, and only upstream.
   */
  trustsUrl: z.boolean().optional(),
  /**
   * Whether a client can have a private address: if every address of a list is trusted, the first one is that of the
   * client. If absent, or if every peer is trusted, private addresses count as those of proxies.
   */
  privateClients: z.literal(true).optional(),
});

export type TrustForwardedFor = Readonly<z.infer<typeof trustForwardedForSchema>>;

/** The form of a list of ranges. It checks the characters, but not whether each entry is an address. */
const cidrListForm: Form = {
  pattern: "^[0-9a-fA-F:./,\\s]+$",
  noun: "a list of addresses",
  expected: 'CIDRs such as "10.0.0.0/8,192.0.2.7"',
};

/**
 * Reads the ranges of the trusted proxies, in canonical form; an entry that is not a range is omitted and reported to
 * `warn`.
 */
export function parseTrustedCidrs(text: string, warn: Warn): Result<readonly string[]> {
  const { cidrs, refused } = readCidrs(splitCsv(text));
  if (cidrs.length === 0) return formProblem(cidrListForm, text);
  for (const token of refused) warn(`${JSON.stringify(token)} is not a CIDR and is left out`);
  return ok(cidrs.map(formatCidr));
}

export const trustForwardedFor = defineTranslatedFeature({
  slug: "trust-forwarded-for",
  schema: trustForwardedForSchema,
  annotations: {
    trustForwardedFor: defineAnnotation({
      name: "trust-forwarded-for",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the client is the peer of the connection",
      doc: "Whether the client's address is read from a header.",
      parse: parseBoolean,
    }),
    forwardedForHeader: defineAnnotation({
      name: "forwarded-for-header",
      type: "string",
      builtIn: "`X-Forwarded-For`",
      gatewayApi: "none",
      emptyIsAbsent: true,
      classDefault: true,
      onInvalid: "ignore",
      fallback: `the header is ${defaultForwardedForHeader}`,
      doc: "The header to read, in any case; X-Forwarded-For when absent.",
      parse: parseHeaderName,
    }),
    forwardedForTrustedCidrs: defineAnnotation({
      name: "forwarded-for-trusted-cidrs",
      type: "cidr-list",
      form: cidrListForm,
      builtIn: "every peer",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the header of every peer is trusted",
      doc: "Addresses of the proxies whose header is trusted; every peer's when absent.",
      parse: parseTrustedCidrs,
    }),
  },
});
