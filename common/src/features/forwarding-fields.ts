import { z } from "zod";
import { shown } from "../values/clip.ts";
import { splitCsv } from "../values/list.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";

const on = z.literal(true).optional();

/**
 * The fields that backends get in addition to the usual forwarding fields, and those that are withheld from them. See
 * docs/features/forwarding-fields.md.
 */
export const forwardingFieldsSchema = z.object({
  /** Adds `X-Request-ID`: that of the client, or else a new one of 32 hexadecimal digits. */
  requestId: on,
  /** Adds `X-Scheme` and `X-Forwarded-Scheme`. */
  scheme: on,
  /**
   * The name, in lower case, of the client's field that is forwarded as `X-Original-Forwarded-For`. The client's
   * `X-Forwarded-Host` is then forwarded as `X-Original-Forwarded-Host`.
   */
  original: z.string().optional(),
  /** Adds `X-Original-URI`: path and query before they are rewritten. */
  originalUri: on,
  /** Reduces `X-Forwarded-For` to the address of the client. */
  clientOnly: on,
  /**
   * Adds `ssl-client-verify`, `ssl-client-subject-dn`, `ssl-client-issuer-dn` and `ssl-client-cert` instead of
   * `X-SSL-Client-Cert`, on hosts that check clients for each request (common/src/ir/client-certificate.ts). Such
   * fields are never accepted from the client.
   */
  clientCertificate: on,
  /** Omits the entry of the proxy in `Via`. */
  withoutVia: on,
  /**
   * Drops fields whose names have characters other than letters, digits and `-`; with `underscores`, `_` is also
   * allowed.
   */
  names: z.enum(["plain", "underscores"]).optional(),
});

export type ForwardingFields = Readonly<z.infer<typeof forwardingFieldsSchema>>;

/** The settings by the word of the annotation. */
const words: Readonly<Record<string, ForwardingFields>> = {
  "request-id": { requestId: true },
  scheme: { scheme: true },
  original: { original: "x-forwarded-for" },
  "original-uri": { originalUri: true },
  "client-only": { clientOnly: true },
  "without-via": { withoutVia: true },
  "client-certificate": { clientCertificate: true },
  "plain-names": { names: "plain" },
};

const expected = `some of ${Object.keys(words).join(", ")}, separated by commas`;

function parseChanges(text: string): Result<ForwardingFields> {
  let changes: ForwardingFields = {};
  for (const item of splitCsv(text)) {
    const change = Object.hasOwn(words, item) ? words[item] : undefined;
    if (change === undefined) return problem(`"${shown(item)}" is no change to forwarding fields`, expected);
    changes = { ...changes, ...change };
  }
  return Object.keys(changes).length === 0 ? problem("the list is empty", expected) : ok(changes);
}

export const forwardingFields = defineFeature({
  slug: "forwarding-fields",
  schema: forwardingFieldsSchema,
  annotations: {
    changes: defineAnnotation({
      name: "forwarding-fields",
      type: "csv",
      builtIn: "none",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "forwarding fields are the usual ones",
      doc: "Changes to the fields that describe the client: `request-id`, `scheme`, `original`, `original-uri`, `client-only`, `client-certificate`, `without-via`, `plain-names`.",
      parse: parseChanges,
    }),
  },
  fromAnnotations: ({ changes }) => changes,
});
