import { join } from "node:path";
import { issueCertificate } from "../../../../proxy/test/tls/certificates.ts";
import { expectAnswers, type Ports } from "../ask.ts";
import type { CorpusObject, CorpusRequest } from "../cases.ts";
import { hostOf, readRules, type RuleCase } from "../rule-cases.ts";
import { startServices } from "../rule-gateway.ts";
import { nginxConfig } from "./config.ts";
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
  ...["limit-rps", "limit-rpm", "limit-burst-multiplier"],
  ...["limit-connections", "limit-allowlist", "custom-http-errors", "default-backend"],
  ...["disable-proxy-intercept-errors", "proxy-redirect-from", "proxy-redirect-to", "proxy-cookie-path"],
  ...["proxy-cookie-domain", "x-forwarded-prefix", "backend-protocol", "mirror-target", "mirror-host"],
  ...["mirror-request-body", "proxy-next-upstream", "proxy-next-upstream-tries", "proxy-read-timeout"],
  ...["proxy-next-upstream-timeout", "proxy-connect-timeout", "proxy-send-timeout"],
]);

/** What the controller decides otherwise before it writes a configuration, as docs/ingress-nginx.md says. */
const decidedBefore = new Set([
  // An alias serves all hosts of its Ingress.
  ...["alias-hosts", "alias-hosts-others", "alias-hosts-regex"],
  // The path is given the default backend where its own has no endpoint.
  ...["default-backend", "error-pages-intercept"],
  // Here backends never get such fields of clients; a module that Debian does not have removes Server.
  ...["client-certificate-fields", "server-field"],
]);

/** Findings that say nothing about what nginx would be told. */
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

function shownBy(one: RuleCase): Shown | undefined {
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
  return isShown ? { one, objects, sites: sitesOf({ objects }) } : undefined;
}

/** What needs a client certificate, or Lua, is not asked. */
const isAsked = ({ certificate, needsLua }: CorpusRequest): boolean =>
  certificate === undefined && needsLua !== true;

async function differences(ports: Ports, shown: readonly Shown[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { one } of shown) {
    for (const wanted of one.requests.filter(isAsked)) {
      const { nginxStatus: status, path: _, ...others } = wanted;
      const expected = status === undefined ? wanted : { ...others, status, response: {}, upstream: {} };
      await expectAnswers(ports, expected).catch((error: unknown) => {
        found.push(`${one.name}: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
  }
  return found;
}

describe("nginx, configured as ingress-nginx configures it, and the rules", () => {
  it("nginx answers the requests of the rules as the rules say, as far as it can without Lua", async function () {
    if (!hasNginx()) return void this.skip();
    const files = readRules();
    const shown = files.flatMap(({ config, cases }) =>
      Object.keys(config).some((key) => key !== "global-allowed-response-headers")
        ? []
        : cases.flatMap((one) => shownBy(one) ?? []),
    );
    const names = new Set(shown.map(({ one }) => one.name));
    if (names.size < 100) throw new Error(`nginx shows ${names.size} rules only`);
    const { ports: services, servers } = await startServices(
      Object.assign({}, ...files.map(({ replies }) => replies)) as (typeof files)[number]["replies"],
    );
    const secrets = new Map(
      shown.flatMap(({ objects }) =>
        objects.flatMap(({ kind, metadata, stringData = {} }) =>
          kind === "Secret"
            ? [[`${metadata.namespace}.${metadata.name}`, stringData["auth"] ?? ""] as const]
            : [],
        ),
      ),
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
        ofService.map((port) => `127.0.0.1:${port}`),
      ]),
    );
    try {
      await withNginx(
        (folder, ports) =>
          nginxConfig(
            shown.flatMap(({ sites }) => sites),
            {
              ...{ ...ports, folder, upstreams, addressOf },
              certificateOf: (host) =>
                withTls.has(host) ? join(folder, `${host.replace(/\.example$/, "")}.certificate`) : undefined,
              usersOf: (namespace, secret) => join(folder, `${namespace}.${secret}`),
            },
          ),
        async (ports) => {
          const found = await differences(ports, shown);
          if (found.length > 0) throw new Error(found.join("\n"));
        },
        Object.fromEntries([...secrets, ...certificates]),
      );
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  });
});
