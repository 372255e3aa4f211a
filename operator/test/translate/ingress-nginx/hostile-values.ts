/** Values of annotations as a hostile tenant writes them, and the Ingresses that hold them. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../../src/api/object.ts";
import { nginxAnnotations } from "../../../src/translate/ingress-nginx/annotations/index.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../../src/translate/settings.ts";
import { caseNames, testdata } from "../golden.ts";

/** Annotations whose value is never invalid as a whole: snippets are read statement by statement, and origins one by one. */
export const readInParts: readonly string[] = [
  "auth-snippet",
  "configuration-snippet",
  "cors-allow-origin",
  "modsecurity-snippet",
  "server-snippet",
  "stream-snippet",
];

export const prefix = "nginx.ingress.kubernetes.io/";
export const owner = "owner";
export const sharedHost = "shared.example";

export const settings: TranslateSettings = {
  ...defaultTranslateSettings,
  ingressNginx: { ...defaultTranslateSettings.ingressNginx, classes: ["nginx"] },
};

const mebibyte = 1024 * 1024;

/** Hostile values, by the attack that they attempt. */
export const hostileValues: Readonly<Record<string, string>> = {
  "a line break": "a\nX-Evil: 1",
  "a line break after a word that many annotations accept": "true\nX-Evil: 1",
  "a line break in a list": "10.0.0.0/8,X-A\nX-Evil: 1",
  "a carriage return": "a\rb",
  NUL: "a\u0000b",
  "a tabulator in the middle": "a\tb",
  "an escape sequence": "a\u001B[31mb",
  DEL: "a\u007Fb",
  "a statement of nginx": "a; } location /x { return 200; } #",
  "a statement of nginx in a path": "/a;return 200 x;",
  "a closing brace": "a}",
  "a double quotation mark": 'a" b',
  "a backslash": "a\\",
  "a comment": "a # b",
  "an unknown variable": "/a/$evil",
  "an unknown variable in braces": "https://shared.example/${evil}",
  "a variable of credentials": "$http_authorization",
  "a lone dollar": "$",
  "a format of a log": '%s %n $request_body "%00"',
  "a path upwards": "../../owner/secret",
  "an encoded line break": "/a%0d%0aX-Evil:%201",
  "a Secret of another namespace": "owner/users",
  "a URL of credentials": "http://user:secret@127.0.0.1:80/",
  "a URL of the metadata service": "http://169.254.169.254/latest/meta-data",
  "a host of the owner": "owner.example",
  "a wildcard of the owner": "*.shared.example",
  "every host": "*",
  "a regular expression of every host": "~^.*$",
  "a regular expression that backtracks": "(a+)+$",
  "a regular expression that backtracks twice": "CN=(a|aa)*(a|aa)*b$",
  "a regular expression that is large": "((((a{99}){99}){99}){99}){99}",
  "a regular expression with look-ahead": "(?=x)(?!y)\\1",
  "text from right to left": "a\u202Eb",
  "a line separator": "a\u2028b",
  "a lone surrogate": "a\uD800b",
  emoji: "\u{1F4A3}",
  "a number beyond 64 bits": "99999999999999999999",
  "a negative number": "-1",
  "1 MiB of letters": "a".repeat(mebibyte),
  "1 MiB of blanks around a letter": `${" ".repeat(mebibyte)}a`,
  "1 MiB of a list": "a.example,".repeat(mebibyte / 10),
  "1 MiB of line breaks": `a${"\n".repeat(mebibyte)}b`,
};

/** The other annotations that an annotation requires to have an effect, by a pattern of its name. */
const partners: readonly (readonly [RegExp, Readonly<Record<string, string>>])[] = [
  [/^auth-tls-(?!secret)/, { "auth-tls-secret": "guest/authorities" }],
  [/^auth-(?:realm|secret)/, { "auth-type": "basic", "auth-secret": "users" }],
  [/^auth-(?!tls|realm|secret|type|url)/, { "auth-url": "https://$host/auth" }],
  [/^proxy-ssl-/, { "backend-protocol": "HTTPS", "proxy-ssl-secret": "guest/backend" }],
  [/^session-cookie-|^affinity-/, { affinity: "cookie" }],
  [/^cors-/, { "enable-cors": "true" }],
  [/^limit-/, { "limit-rps": "1", "limit-rate": "1" }],
  [/^mirror-/, { "mirror-target": "https://guest.example$request_uri" }],
  [/^x-forwarded-prefix|^use-regex/, { "rewrite-target": "/$1" }],
  [/^upstream-hash-by-/, { "upstream-hash-by": "$request_uri" }],
  [/^permanent-redirect-code/, { "permanent-redirect": "https://guest.example/" }],
  [/^temporal-redirect-code/, { "temporal-redirect": "https://guest.example/" }],
  [/^proxy-redirect-to/, { "proxy-redirect-from": "http://a/" }],
  [/^canary-/, { canary: "true" }],
];

export type IngressOptions = {
  readonly name: string;
  readonly namespace: string;
  readonly createdOn: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, string>>;
  readonly tls?: readonly string[];
};

/** An Ingress with one path on each of its hosts. */
export function ingressOf({
  name,
  namespace,
  createdOn,
  annotations = {},
  rules,
  tls,
}: IngressOptions): KubeObject {
  const object = {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace, creationTimestamp: `${createdOn}T00:00:00Z`, annotations },
    spec: {
      ingressClassName: "nginx",
      ...(tls && { tls: [{ hosts: tls }] }),
      rules: Object.entries(rules).map(([host, path]) => ({
        host,
        http: {
          paths: [{ path, pathType: "Prefix", backend: { service: { name: "echo", port: { number: 80 } } } }],
        },
      })),
    },
  };
  return object;
}

/** An Ingress of a younger tenant with one annotation that is hostile, on a host of its own and on one of the owner. */
export const guestOf = (name: string, value: string, key = name, tls: readonly string[] = []): KubeObject =>
  ingressOf({
    name: key,
    namespace: "guest",
    createdOn: "2024-02-01",
    annotations: {
      ...Object.fromEntries(
        partners.flatMap(([names, more]) =>
          names.test(name) ? Object.entries(more).map(([other, text]) => [`${prefix}${other}`, text]) : [],
        ),
      ),
      [`${prefix}${name}`]: value,
    },
    rules: { [sharedHost]: `/guest/${key}`, [`${key}.guest.example`]: "/" },
    tls: [`${key}.guest.example`, ...tls],
  });

/** The Ingresses of the owner, with two hosts. The guests also name one of these hosts. */
export const ownersObjects: readonly KubeObject[] = [
  ingressOf({
    name: "shop",
    namespace: owner,
    createdOn: "2024-01-01",
    annotations: { [`${prefix}auth-type`]: "basic", [`${prefix}auth-secret`]: "users" },
    rules: { [sharedHost]: "/", "owner.example": "/" },
    tls: [sharedHost, "owner.example"],
  }),
  ingressOf({ name: "api", namespace: owner, createdOn: "2024-01-02", rules: { [sharedHost]: "/api" } }),
];

/** The same without TLS. */
export const ownersPlainObjects: readonly KubeObject[] = [
  ingressOf({
    name: "shop",
    namespace: owner,
    createdOn: "2024-01-01",
    rules: { [sharedHost]: "/" },
  }),
  ingressOf({ name: "api", namespace: owner, createdOn: "2024-01-02", rules: { [sharedHost]: "/api" } }),
];

/** Every value of each annotation in the golden cases: valid, at the boundaries and invalid. */
export function goldenValues(): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, Set<string>>();
  for (const name of caseNames().filter((one) => one.startsWith("nginx-"))) {
    for (const document of parseAllDocuments(readFileSync(new URL(`${name}.in.yaml`, testdata), "utf8"))) {
      const { metadata } = document.toJS() as KubeObject;
      for (const [key, value] of Object.entries(metadata?.annotations ?? {})) {
        const known = key.startsWith(prefix) ? key.slice(prefix.length) : "";
        if (!nginxAnnotations.has(known)) continue;
        values.set(known, (values.get(known) ?? new Set()).add(value));
      }
    }
  }
  return new Map([...values].map(([name, all]) => [name, [...all]]));
}
