import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { shown } from "../values/clip.ts";
import { enumForm, formProblem } from "../values/form.ts";
import { integerForm, parseInteger } from "../values/integer.ts";
import { namespacedNameForm, parseNamespacedName } from "../values/namespaced-name.ts";
import { compileRegex } from "../values/regex.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineOption } from "./definition.ts";
import { parseRedirectUrl } from "./redirect.ts";

const depths = { min: 1 };

/** The verification modes, named as in nginx (ssl_verify_client). */
const verifyWords = ["on", "optional", "optional_no_ca", "off"] as const;
export type VerifyClient = (typeof verifyWords)[number];

const verifyForm = enumForm("a way of verifying clients", verifyWords);

function parseVerifyClient(text: string): Result<VerifyClient> {
  const word = verifyWords.find((one) => one === text.toLowerCase());
  return word === undefined ? formProblem(verifyForm, text) : ok(word);
}

const pathForm = /^\/(?:[A-Za-z0-9\-._~:/?[\]!$&'()*+,;=@]|%[0-9A-Fa-f]{2})*$/;
/**
 * Matches dot segments, which are rejected: a path is served as it is written, and must stay below the prefix by which
 * it is matched (RFC 3986 5.2.4).
 */
const dotSegment = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
const maxPageLength = 2048;

/**
 * Reads the address to which clients without a valid certificate are redirected: a URL, or a path of the host with its
 * query.
 */
export function parseErrorPage(text: string): Result<string> {
  if (!text.startsWith("/")) return parseRedirectUrl(text);
  return text.length <= maxPageLength && pathForm.test(text) && !dotSegment.test(text)
    ? ok(text)
    : problem(
        `${JSON.stringify(shown(text))} is not a path of the host`,
        'a path such as "/no-certificate", or a URL, other characters percent-encoded',
      );
}

/**
 * A regular expression for the subjects of clients. A rule without a pattern replaces an unreadable one, and admits no
 * client.
 */
export type SubjectRule = { readonly pattern: string | undefined };

/** Reads a regular expression for subjects, which are written in ASCII (RFC 2253 2.4). */
export function parseSubject(text: string): Result<SubjectRule> {
  if (!/^[ -~]*$/.test(text)) return problem("holds other characters than those of ASCII", "RE2 syntax");
  const regex = compileRegex(text, { whole: false });
  return regex.ok ? ok({ pattern: text }) : regex;
}

/** Client certificates of the hosts under `spec.tls`. See docs/features/auth-tls.md. */
export const authTls = defineOption({
  slug: "auth-tls",
  annotations: {
    authTlsSecret: defineAnnotation({
      name: "auth-tls-secret",
      type: "namespaced-name",
      form: namespacedNameForm,
      builtIn: "no client certificates",
      gatewayApi: "`spec.tls.frontend` of the Gateway",
      resource: "Secret",
      alsoInEvents:
        "a Secret that does not exist, is not permitted or is unusable; a host whose TLS belongs to another Ingress; no host under `spec.tls`",
      classDefault: false,
      needsGrant: true,
      onInvalid: "deny",
      fallback: "no client is admitted to its hosts",
      doc: "The Secret with the certificate authorities that clients' certificates must be issued by.",
      parse: parseNamespacedName,
    }),
    authTlsVerifyClient: defineAnnotation<VerifyClient>({
      name: "auth-tls-verify-client",
      type: "enum",
      form: verifyForm,
      builtIn:
        "handshakes without a valid certificate fail; `on` with `auth-tls-error-page` or `auth-tls-match-subject`",
      gatewayApi: "`spec.tls.frontend` of the Gateway",
      classDefault: false,
      onInvalid: "ignore",
      ifInvalid: "on",
      fallback: "clients must show a valid certificate",
      doc: "Verifies clients in handshakes and answers their requests over HTTP: `on`, 400 without a valid certificate; `optional`, 400 with an invalid one; `optional_no_ca`, all are served; `off`, none is asked for.",
      parse: parseVerifyClient,
    }),
    authTlsVerifyDepth: defineAnnotation({
      name: "auth-tls-verify-depth",
      type: "integer",
      form: integerForm(depths),
      builtIn: "1",
      gatewayApi: "none",
      classDefault: false,
      onInvalid: "ignore",
      fallback: "the depth is 1",
      doc: "Maximum length of the chain from a client's certificate to an authority; 1 when absent.",
      parse: (text) => parseInteger(text, depths),
    }),
    authTlsPassCertificateToUpstream: defineAnnotation({
      name: "auth-tls-pass-certificate-to-upstream",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "none",
      classDefault: false,
      onInvalid: "ignore",
      fallback: "upstreams do not see the certificate",
      doc: "Whether the client's certificate is passed to upstreams in `X-SSL-Client-Cert`.",
      parse: parseBoolean,
    }),
    authTlsErrorPage: defineAnnotation({
      name: "auth-tls-error-page",
      type: "string",
      builtIn: "none: the answer is 400",
      gatewayApi: "none",
      classDefault: false,
      onInvalid: "ignore",
      fallback: "clients without a valid certificate are answered 400",
      doc: "What clients get instead of 400: a redirect (302) to a URL, or the path of the host that is served to them.",
      parse: parseErrorPage,
    }),
    authTlsMatchSubject: defineAnnotation<SubjectRule>({
      name: "auth-tls-match-subject",
      type: "string",
      builtIn: "every subject",
      gatewayApi: "none",
      classDefault: false,
      onInvalid: "deny",
      ifInvalid: { pattern: undefined },
      fallback: "no client is admitted: requests are answered 403",
      doc: "A regular expression that is searched in the subject of the client's certificate (`CN=alice,O=Example`); other clients are answered 403.",
      parse: parseSubject,
    }),
  },
  handledIn: ["operator/src/translate/ingress/client-certs.ts", "proxy/src/tls/server-options.ts"],
});
