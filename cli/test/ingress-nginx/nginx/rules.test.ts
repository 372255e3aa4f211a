import { join } from "node:path";
import { expect } from "chai";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { issueCertificate } from "../../../../proxy/test/tls/certificates.ts";
import { expectAnswers, type Ports } from "../ask.ts";
import type { CorpusObject, CorpusRequest } from "../cases.ts";
import { hostOf, readRules, together, type RuleCase, type RuleFile } from "../rule-cases.ts";
import { startServices } from "../rule-gateway.ts";
import { pemOf } from "../client-identities.ts";
import { nginxConfig } from "./config.ts";
import type { Settings } from "./config-map.ts";
import { hasNginx, withNginx } from "./process.ts";
import { annotationsOf, sitesOf, type Site } from "./sites.ts";

/** The annotations that the configuration of this folder has; the others are a matter of Lua, or have no effect. */
const shownAnnotations = new Set([
  ...["use-regex", "rewrite-target", "app-root", "server-alias", "from-to-www-redirect", "upstream-vhost"],
  ...["ssl-redirect", "force-ssl-redirect", "preserve-trailing-slash", "proxy-body-size"],
  ...["permanent-redirect", "permanent-redirect-code", "temporal-redirect", "temporal-redirect-code"],
  ...["enable-cors", "cors-allow-origin", "cors-allow-methods", "cors-allow-headers", "cors-max-age"],
  ...["cors-expose-headers", "cors-allow-credentials", "satisfy", "auth-type", "auth-secret", "auth-realm"],
  ...["whitelist-source-range", "denylist-source-range", "auth-url", "auth-method", "auth-response-headers"],
  ...["allowlist-source-range", "auth-signin", "auth-signin-redirect-param", "auth-proxy-set-headers"],
  ...["custom-headers"],
  ...["limit-rps", "limit-rpm", "limit-burst-multiplier"],
  ...["limit-connections", "limit-allowlist", "custom-http-errors", "default-backend"],
  ...["disable-proxy-intercept-errors", "proxy-redirect-from", "proxy-redirect-to", "proxy-cookie-path"],
  ...["proxy-cookie-domain", "x-forwarded-prefix", "backend-protocol", "mirror-target", "mirror-host"],
  ...["mirror-request-body", "proxy-next-upstream", "proxy-next-upstream-tries", "proxy-read-timeout"],
  ...["proxy-next-upstream-timeout", "proxy-connect-timeout", "proxy-send-timeout"],
  ...["auth-cache-key", "auth-cache-duration", "auth-request-redirect", "auth-always-set-cookie"],
  ...["auth-tls-secret", "auth-tls-verify-client", "auth-tls-verify-depth", "auth-tls-error-page"],
  ...["auth-tls-match-cn", "auth-tls-pass-certificate-to-upstream"],
]);

/** The keys of the ConfigMap that it has; those with the name of an annotation are its default. */
const shownKeys = new Set([
  ...shownAnnotations,
  ...[
    "hsts-max-age",
    "hsts-include-subdomains",
    "hsts-preload",
    "http-redirect-code",
    "limit-req-status-code",
  ],
  ...[
    "hide-headers",
    "add-headers",
    "proxy-set-headers",
    "enable-underscores-in-headers",
    "generate-request-id",
  ],
  ...[
    "proxy-add-original-uri-header",
    "use-forwarded-headers",
    "proxy-real-ip-cidr",
    "compute-full-forwarded-for",
  ],
  // What custom-headers may name.
  "global-allowed-response-headers",
]);

/** Cases with decisions that the controller makes before it writes a configuration (docs/ingress-nginx.md). */
const decidedBefore = new Set([
  // An alias serves all hosts of its Ingress.
  ...["alias-hosts", "alias-hosts-others", "alias-hosts-regex"],
  // The path is given the default backend where its own has no endpoint.
  ...["default-backend", "error-pages-intercept"],
  // Here backends never get such fields of clients; a module that Debian does not have removes Server.
  ...["client-certificate-fields", "server-field"],
]);

/** Findings that say nothing about the configuration of nginx. */
const harmless = new Set([
  "WeakHash",
  "NoEndpoints",
  "BackendNotVerified",
  "ServedDifferently",
  "LinesLeftOut",
]);

type Shown = {
  readonly one: RuleCase;
  readonly objects: readonly CorpusObject[];
  readonly sites: readonly Site[];
};

function shownBy(one: RuleCase, { config }: RuleFile): Shown | undefined {
  const objects = one.objects as readonly CorpusObject[];
  const ingresses = objects.filter(({ kind }) => kind === "Ingress");
  const isShown =
    !decidedBefore.has(one.name) &&
    one.findings.every((finding) => harmless.has(finding)) &&
    ingresses.every(
      (object) =>
        object.metadata.namespace === one.name &&
        (object.spec?.rules ?? []).every(({ host }) => (host as string | undefined) !== undefined) &&
        (object.spec?.tls ?? []).every(
          ({ secretName, hosts }) => secretName === "certificate" && hosts?.[0] === hostOf(one.name),
        ) &&
        Object.keys(annotationsOf(object)).every((name) => shownAnnotations.has(name)),
    );
  if (!isShown) return undefined;
  const defaults = Object.fromEntries(Object.entries(config).filter(([key]) => shownAnnotations.has(key)));
  const sites = sitesOf({ objects }).map((site) => ({
    ...site,
    ingresses: site.ingresses.map((ingress) => ({
      ...ingress,
      annotations: { ...defaults, ...ingress.annotations },
    })),
  }));
  return { one, objects, sites };
}

/** Whether a request is sent. Those that need Lua are not, because nginx alone cannot show their result. */
const isAsked = ({ needsLua }: CorpusRequest): boolean => needsLua !== true;

async function differences(ports: Ports, shown: readonly Shown[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { one } of shown) {
    for (const wanted of one.requests.filter(isAsked)) {
      const { nginxStatus: status, path: _, ...others } = wanted;
      const expected = status === undefined ? wanted : { ...others, status, response: {}, upstream: {} };
      await expectAnswers(ports, expected).catch((error: unknown) => {
        found.push(`${one.name}: ${textOf(error)}`);
      });
    }
  }
  return found;
}

/** The settings of files with the same ConfigMap. */
function settingsOf({ config, objects }: RuleFile): Settings {
  const fieldsOf = (key: string): Readonly<Record<string, string>> => {
    const [namespace, name] = (config[key] ?? "").split("/");
    const found = (objects as readonly CorpusObject[]).find(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
    );
    return found?.data ?? {};
  };
  return { keys: config, added: fieldsOf("add-headers"), sent: fieldsOf("proxy-set-headers") };
}

/** Files of Secrets by their namespace and name: lists of users, and authorities of client certificates. */
const secretFiles = (shown: readonly Shown[]): readonly (readonly [string, string])[] =>
  shown.flatMap(({ objects }) =>
    objects.flatMap(({ kind, metadata, stringData = {} }) =>
      kind === "Secret"
        ? [
            [
              `${metadata.namespace}.${metadata.name}`,
              stringData["ca.crt"]?.replace(/\$\{pem:([a-z]+)\}/, (_, name: string) => pemOf(name)) ??
                stringData["auth"] ??
                "",
            ] as const,
          ]
        : [],
    ),
  );

/** Serves the cases of files with one ConfigMap by one nginx. */
async function answersOf(files: readonly RuleFile[], shown: readonly Shown[]): Promise<readonly string[]> {
  const [first] = files;
  if (first === undefined || shown.length === 0) return [];
  const { ports: services, servers } = await startServices(
    Object.assign({}, ...files.map(({ replies }) => replies)) as RuleFile["replies"],
  );
  const certified = shown.filter(({ objects }) => objects.some(({ spec }) => spec?.tls !== undefined));
  const certificates = certified.map(({ one }) => {
    const { chainPem, keyPem } = issueCertificate([hostOf(one.name)]);
    return [`${one.name}.certificate`, `${chainPem}${keyPem}`] as const;
  });
  const withTls = new Set(certified.map(({ one }) => hostOf(one.name)));
  const addressOf = (_: string, service: string): string => `service_${service.replaceAll("-", "_")}`;
  const upstreams = new Map(
    [...services].map(([name, ofService]) => [
      addressOf("", name),
      ofService.map(({ host, port }) => `${host}:${port}`),
    ]),
  );
  // Names of a map ignore case, which no path for signing in depends on.
  const escaped = [
    ...new Set(
      shown
        .filter(({ sites }) => JSON.stringify(sites).includes('"auth-signin":'))
        .flatMap(({ one }) => one.requests.map(({ request }) => request.replace(/^\S+ [^/]*\/\/[^/]*/, ""))),
    ),
  ];
  const configMaps = new Map<string, Readonly<Record<string, string>>>(
    shown.flatMap(({ objects }) =>
      objects.flatMap(({ kind, metadata, data }) =>
        kind === "ConfigMap" ? [[`${metadata.namespace}/${metadata.name}`, data ?? {}] as const] : [],
      ),
    ),
  );
  let found: readonly string[] = [];
  try {
    await withNginx(
      (folder, ports) => {
        const fileOf = (namespace: string, secret: string): string => join(folder, `${namespace}.${secret}`);
        return nginxConfig(
          shown.flatMap(({ sites }) => sites),
          {
            ...{ ...ports, folder, upstreams, addressOf, escaped },
            fieldsOf: (name) => configMaps.get(name) ?? {},
            certificateOf: (host) =>
              withTls.has(host) ? join(folder, `${host.replace(/\.example$/, "")}.certificate`) : undefined,
            usersOf: fileOf,
            authorityOf: fileOf,
          },
          settingsOf(first),
        );
      },
      async (ports) => {
        found = await differences(ports, shown);
      },
      Object.fromEntries([...secretFiles(shown), ...certificates]),
    );
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
  return found;
}

describe("nginx, configured as ingress-nginx configures it, and the rules", () => {
  it("nginx answers the requests of the rules as the rules say, as far as it can without Lua", async function () {
    if (!hasNginx()) return void this.skip();
    const found: string[] = [];
    const names = new Set<string>();
    // How values are written is read by the controller, before there is a configuration.
    for (const files of together(readRules().filter(({ name }) => name !== "values"))) {
      const isKnown = files.every(({ config }) => Object.keys(config).every((key) => shownKeys.has(key)));
      const shown = files.flatMap((file) =>
        isKnown ? file.cases.flatMap((one) => shownBy(one, file) ?? []) : [],
      );
      for (const { one } of shown) names.add(one.name);
      found.push(...(await answersOf(files, shown)));
    }
    if (found.length > 0) throw new Error(found.join("\n"));
    expect(names.size).to.be.above(150);
  });
});
