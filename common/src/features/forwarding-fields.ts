import { z } from "zod";
import { shown } from "../values/clip.ts";
import { splitCsv } from "../values/list.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";

const on = z.literal(true).optional();

/** Which fields backends get besides the usual forwarding fields, and which they do not get. See docs/features/forwarding-fields.md. */
export const forwardingFieldsSchema = z.object({
  /** `X-Request-ID`: that of the client, else a new one of 32 hexadecimal digits. */
  requestId: on,
  /** `X-Scheme` and `X-Forwarded-Scheme`. */
  scheme: on,
  /**
   * The field, in lower case, whose value of the client goes on as `X-Original-Forwarded-For`, beside its X-Forwarded-Host as
   * `X-Original-Forwarded-Host`.
   */
  original: z.string().optional(),
  /** `X-Original-URI`: path and query before they are rewritten. */
  originalUri: on,
  /** `X-Forwarded-For` is the address of the client alone. */
  clientOnly: on,
  /**
   * `ssl-client-verify`, `ssl-client-subject-dn`, `ssl-client-issuer-dn` and `ssl-client-cert`, on hosts that decide about clients by
   * request (common/src/ir/client-certificate.ts), instead of `X-SSL-Client-Cert`; never those of the client itself.
   */
  clientCertificate: on,
  /** No entry of the proxy in `Via`. */
  withoutVia: on,
  /** Drops fields whose names have other characters than letters, digits and `-`; `underscores`: and `_`. */
  names: z.enum(["plain", "underscores"]).optional(),
});

export type ForwardingFields = Readonly<z.infer<typeof forwardingFieldsSchema>>;

/** The words of the annotation. */
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
