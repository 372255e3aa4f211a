import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { integerForm, parseInteger } from "../values/integer.ts";
import { namespacedNameForm, parseNamespacedName } from "../values/namespaced-name.ts";
import { defineAnnotation, defineOption } from "./definition.ts";

const depths = { min: 1 };

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
      fallback: "every handshake to its hosts is refused",
      doc: "The Secret with the certificate authorities that clients' certificates must be issued by.",
      parse: parseNamespacedName,
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
  },
  handledIn: ["operator/src/translate/ingress/client-certs.ts", "proxy/src/tls/server-options.ts"],
});
