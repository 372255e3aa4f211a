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
      builtIn: "no certificates are asked for",
      gatewayApi: "`spec.tls.frontend` of the Gateway",
      resource: "Secret",
      alsoInEvents:
        "a Secret that does not exist, may not be used or cannot be; a host whose TLS belongs to another Ingress; no host under `spec.tls`",
      classDefault: false,
      needsGrant: true,
      onInvalid: "deny",
      fallback: "every handshake to its hosts is refused",
      doc: "The Secret with the authorities that must have issued the certificates of clients.",
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
      doc: "How many steps lead from a client's certificate to an authority at most; 1 when absent.",
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
      doc: "Whether upstreams get the client's certificate in `X-SSL-Client-Cert`.",
      parse: parseBoolean,
    }),
  },
  handledIn: ["operator/src/translate/ingress/client-certs.ts", "proxy/src/tls/settings.ts"],
});
