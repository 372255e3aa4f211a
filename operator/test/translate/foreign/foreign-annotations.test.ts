import { expect } from "chai";
import { controllerOfPrefix } from "../../../src/translate/foreign/controllers.ts";
import {
  foreignAnnotationsOf,
  reportForeignAnnotations,
} from "../../../src/translate/foreign/foreign-annotations.ts";
import { missingOfNginx, missingProtection } from "../../../src/translate/foreign/protection.ts";

const object = { kind: "Ingress", namespace: "shop", name: "moved" };
const nginx = (name: string): string => `nginx.ingress.kubernetes.io/${name}`;
const report = (annotations: Readonly<Record<string, string>>): ReturnType<typeof reportForeignAnnotations> =>
  reportForeignAnnotations(object, foreignAnnotationsOf(annotations));

describe("annotations of other controllers", () => {
  const cases: readonly (readonly [name: string, value: string, missing: RegExp | undefined])[] = [
    ["auth-url", "https://$host/oauth2/auth", /not authenticated/],
    ["auth-type", "basic", /not authenticated/],
    ["auth-secret", "users", /not authenticated/],
    ["basic-auth-secret", "users", /not authenticated/],
    ["enable-global-auth", "true", /not authenticated/],
    ["enable-global-auth", "false", undefined],
    ["satisfy", "any", /not authenticated/],
    ["satisfy", "all", undefined],
    ["auth-tls-secret", "shop/clients", /asked for a certificate/],
    ["auth-tls-verify-client", "off", undefined],
    ["router.tls.options", "shop-mtls@kubernetescrd", /asked for a certificate/],
    ["client-ca", "shop/clients", /asked for a certificate/],
    ["mutual-authentication", "[]", /asked for a certificate/],
    ["whitelist-source-range", "10.0.0.0/8", /addresses are not restricted/],
    ["allowlist-source-range", "10.0.0.0/8", /addresses are not restricted/],
    ["denylist-source-range", "10.0.0.0/8", /addresses are not restricted/],
    ["allow-list", "10.0.0.0/8", /addresses are not restricted/],
    ["ip_whitelist", "10.0.0.0/8", /addresses are not restricted/],
    ["inbound-cidrs", "10.0.0.0/8", /addresses are not restricted/],
    ["limit-rps", "5", /not limited/],
    ["limit-rps", "0", undefined],
    ["limit-whitelist", "10.0.0.0/8", /not limited/],
    ["rate-limit-requests", "5", /not limited/],
    ["cors-allow-origin", "https://a.example.com", /origins/],
    ["cors-allow-origin", "*", undefined],
    ["enable-modsecurity", "true", undefined],
    ["enable-owasp-core-rules", "true", /firewall/],
    ["wafv2-acl-arn", "arn:aws:wafv2:x", /firewall/],
    ["proxy-ssl-verify", "on", /certificates of backends/],
    ["proxy-ssl-verify", "off", undefined],
    ["proxy-ssl-verify-depth", "2", undefined],
    ["server-snippet", "deny all;", /may protect/],
    ["plugins", "key-auth", /may protect/],
    ["router.middlewares", "shop-auth@kubernetescrd", /may protect/],
    ["scheme", "internal", /outside the network/],
    ["scheme", "internet-facing", undefined],
    ["auth-url", " ", undefined],
    ["rewrite-target", "/$2", undefined],
    ["proxy-body-size", "8m", undefined],
    ["websocket-services", "web", undefined],
    ["cluster-issuer", "letsencrypt", undefined],
  ];
  for (const [name, value, missing] of cases) {
    it(`the annotation ${name} with the value "${value}" ${missing === undefined ? "protects nothing" : "is known to protect"}`, () => {
      const found = missingProtection(name, value);
      if (missing === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(missing);
    });
  }

  for (const [prefix, name] of [
    ["nginx.ingress.kubernetes.io", "ingress-nginx"],
    ["nginx.org", "the NGINX Ingress Controller of F5"],
    ["appprotect.f5.com", "the NGINX Ingress Controller of F5"],
    ["traefik.ingress.kubernetes.io", "Traefik"],
    ["haproxy.org", "HAProxy"],
    ["haproxy-ingress.github.io", "HAProxy"],
    ["alb.ingress.kubernetes.io", "the AWS Load Balancer Controller"],
    ["konghq.com", "Kong"],
    ["configuration.konghq.com", "Kong"],
    ["ingress.svc-labs.dev", undefined],
    ["cert-manager.io", undefined],
    ["external-dns.alpha.kubernetes.io", undefined],
    ["kubernetes.io", undefined],
    ["notnginx.org", undefined],
    ["nginx.org.example.com", undefined],
    ["constructor", undefined],
  ] as const) {
    it(`the prefix ${prefix} belongs to ${name ?? "no other controller"}`, () => {
      expect(controllerOfPrefix(prefix)?.name).to.equal(name);
    });
  }

  it("an Ingress without foreign annotations has no finding and no Event", () => {
    expect(report({ "cert-manager.io/issuer": "x", "no-prefix": "x", "/": "x", "": "x" })).to.deep.equal({
      diagnostics: [],
      events: [],
    });
  });

  it("a finding about a foreign annotation that protects is an error and says what is not done", () => {
    const { diagnostics } = report({ [nginx("auth-url")]: "https://auth.example.com" });
    expect(diagnostics).to.deep.equal([
      {
        object,
        field: `metadata.annotations[${nginx("auth-url")}]`,
        severity: "error",
        reason: "ForeignAnnotation",
        message: `"${nginx("auth-url")}" is an annotation of ingress-nginx and has no effect on this Ingress: requests are not authenticated; --ingress-nginx-classes names classes that are read with them`,
      },
    ]);
  });

  it("a finding about a foreign annotation names the annotation of this gateway that has the same name", () => {
    const { diagnostics } = report({ [nginx("ssl-redirect")]: "true" });
    expect(diagnostics[0]?.severity).to.equal("warning");
    expect(diagnostics[0]?.message).to.match(
      /the annotation of this gateway is ingress.svc-labs.dev\/ssl-redirect;/,
    );
  });

  const nginxCases: readonly (readonly [name: string, value: string, missing: RegExp | undefined])[] = [
    ["limit-connections", "0", undefined],
    ["limit-connections", "5", /not limited/],
    ["limit-connections", "five", /not limited/],
    ["auth-cache-key", "$remote_user", /not authenticated/],
    ["configuration-snippet", 'more_set_headers "X-A: b";', undefined],
    ["configuration-snippet", "deny 10.0.0.1;", /statements that protect/],
    ["server-snippet", "location /a { return 403; }", /statements that protect/],
    ["server-snippet", "deny all", /statements that protect/],
    ["server-snippet", "broken", undefined],
    ["modsecurity-snippet", "SecRuleEngine On", /firewall/],
    ["modsecurity-snippet", "SecRuleEngine DetectionOnly", undefined],
    ["enable-modsecurity", "true", undefined],
    ["enable-owasp-core-rules", "true", /firewall/],
    ["satisfy", "all", undefined],
    ["proxy-body-size", "8m", undefined],
    ["auth-ulr", "https://auth.example.com", /not authenticated/],
  ];
  for (const [name, value, missing] of nginxCases) {
    it(`the annotation ${name} of ingress-nginx with the value ${value} ${missing === undefined ? "protects nothing" : "is known to protect"}`, () => {
      const found = missingOfNginx(name, value);
      if (missing === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(missing);
    });
  }

  it("annotations that the Ingress is read with have no finding", () => {
    const annotations = {
      [nginx("auth-url")]: "https://a.example.com",
      "nginx.org/websocket-services": "web",
    };
    const found = foreignAnnotationsOf(annotations, (key) => key.startsWith("nginx.ingress.kubernetes.io/"));
    expect(found.map(({ key }) => key)).to.deep.equal(["nginx.org/websocket-services"]);
  });

  it("an allowlist of all addresses, which cert-manager sets for its challenges, has no finding", () => {
    const list = (value: string): number =>
      report({ [nginx("whitelist-source-range")]: value }).diagnostics.length;
    expect(list("0.0.0.0/0,::/0")).to.equal(0);
    expect(list("0.0.0.0/0")).to.equal(1);
    expect(report({ [nginx("denylist-source-range")]: "0.0.0.0/0,::/0" }).diagnostics).to.have.length(1);
  });

  it("an Ingress with a thousand foreign annotations gets bounded findings and one Event of bounded length", () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [nginx(`annotation-${index}-${"x".repeat(200)}`), "x"]),
    );
    const { diagnostics, events } = report({ ...many, [nginx("auth-url")]: "https://auth.example.com" });
    expect(diagnostics).to.have.length(101);
    expect(diagnostics[0]).to.include({ severity: "error" });
    expect(diagnostics.at(-1)?.message).to.match(/^901 more annotations/);
    expect(events).to.have.length(1);
    expect(Buffer.byteLength(events[0]?.message ?? "")).to.be.at.most(1_000);
    expect(events[0]?.message).to.match(
      /requests are not authenticated \(nginx.ingress.kubernetes.io\/auth-url\)/,
    );
  });
});
