import { expect } from "chai";
import { explainIngresses, type Explained, type IngressCase } from "./explained.ts";
import { tlsSecret } from "./tls-secret.ts";

/** The names of the certificate that is shown for a server name; undefined if the handshake fails. */
const shown = ({ answer }: Explained, host: string): readonly string[] | undefined =>
  answer(`https://${host}/`).tls?.certificates[0]?.names;

const fallback = ["fallback.invalid"];
const tlsOf = (secretName: string, hosts = ["a.example"]): IngressCase => ({
  paths: ["Prefix /"],
  tls: [{ hosts, secretName }],
});

describe("certificates of hosts of ingress-nginx", () => {
  it("a host whose Secret is missing is shown the fallback certificate, and served", async () => {
    const explained = await explainIngresses([tlsOf("missing")]);
    expect(shown(explained, "a.example")).to.deep.equal(fallback);
    expect(explained.ask("https://a.example/x")).to.include({ target: "/x" });
    expect(explained.codes).to.deep.equal(["SecretNotFound shop/i0"]);
  });

  it("a host that its certificate does not cover is shown the fallback certificate", async () => {
    const more = [tlsSecret("cert", ["b.example"])];
    const explained = await explainIngresses([tlsOf("cert", ["a.example", "b.example"])], { more });
    expect(shown(explained, "a.example")).to.deep.equal(fallback);
    expect(shown(explained, "b.example")).to.deep.equal(["b.example"]);
  });

  it("a default certificate and a wildcard certificate precede the fallback certificate", async () => {
    const more = [tlsSecret("default", ["default.example"]), tlsSecret("wild", ["*.w.example"])];
    const flags = ["--default-tls-secret", "shop/default"];
    const withDefault = await explainIngresses([tlsOf("missing")], { more, flags });
    expect(shown(withDefault, "a.example")).to.deep.equal(["default.example"]);
    const wild = await explainIngresses(
      [
        { ...tlsOf("wild", ["*.w.example"]), host: "*.w.example" },
        { ...tlsOf("missing", ["a.w.example"]), host: "a.w.example" },
      ],
      { more },
    );
    expect(shown(wild, "a.w.example")).to.deep.equal(["*.w.example"]);
  });

  it("a name that no Ingress lists is rejected unless the flag says otherwise", async () => {
    const without = await explainIngresses([tlsOf("missing")]);
    expect(shown(without, "unknown.example")).to.equal(undefined);
    const flags = ["--ingress-nginx-fallback-certificate"];
    const explained = await explainIngresses([{ paths: ["Prefix /"] }], { flags });
    expect(shown(explained, "unknown.example")).to.deep.equal(fallback);
    expect(shown(explained, "a.example")).to.deep.equal(fallback);
    expect(explained.ask("https://unknown.example/").status).to.equal(404);
  });

  it("a host of a rule is shown the certificate that covers it, even if it does not cover the hosts of its block", async () => {
    const more = [tlsSecret("wild", ["*.w.example"])];
    const explained = await explainIngresses(
      [{ ...tlsOf("wild", ["listed.example"]), host: "v1.w.example" }],
      { more },
    );
    expect(shown(explained, "v1.w.example")).to.deep.equal(["*.w.example"]);
    expect(shown(explained, "listed.example")).to.deep.equal(fallback);
    expect(explained.ask("http://v1.w.example/x")).to.include({
      status: 308,
      location: "https://v1.w.example/x",
    });
    expect(explained.codes).to.deep.equal(["CertificateHostMismatch shop/i0"]);
  });

  it("an Ingress of another class gets no fallback certificate", async () => {
    const explained = await explainIngresses([{ ...tlsOf("missing"), className: "svc" }]);
    expect(shown(explained, "a.example")).to.equal(undefined);
    expect(explained.folder.translation.needsFallbackCertificate).to.equal(false);
  });

  it("a fallback certificate in the folder is the one that is shown", async () => {
    const more = [tlsSecret("svc-fallback-certificate", ["own.example"], "svc-system")];
    const explained = await explainIngresses([tlsOf("missing")], { more });
    expect(shown(explained, "a.example")).to.deep.equal(["own.example"]);
  });

  it("a further name is shown the certificate of its host that covers it", async () => {
    const annotations = { "server-alias": "alias.example,other.example", "from-to-www-redirect": "true" };
    const more = [tlsSecret("cert", ["a.example", "alias.example", "www.a.example"])];
    const explained = await explainIngresses([{ ...tlsOf("cert"), annotations }], { more });
    expect(shown(explained, "alias.example")).to.include("alias.example");
    expect(shown(explained, "www.a.example")).to.include("www.a.example");
    expect(shown(explained, "other.example")).to.deep.equal(fallback);
    expect(explained.ask("https://alias.example/x")).to.include({ target: "/x" });
    expect(explained.ask("https://www.a.example/x/")).to.include({
      status: 308,
      location: "https://a.example/x",
    });
  });

  it("a further name that no certificate covers is shown the default or the fallback certificate if its host has TLS", async () => {
    const annotations = { "server-alias": "alias.example", "from-to-www-redirect": "true" };
    const names = ["alias.example", "www.a.example"];
    const missing = await explainIngresses([{ ...tlsOf("missing"), annotations }]);
    for (const name of names) expect(shown(missing, name), name).to.deep.equal(fallback);
    expect(missing.ask("http://alias.example/x")).to.include({
      status: 308,
      location: "https://alias.example/x",
    });
    expect(missing.ask("https://alias.example/x")).to.include({ target: "/x" });
    const more = [tlsSecret("default", ["default.example"])];
    const flags = ["--default-tls-secret", "shop/default"];
    const withDefault = await explainIngresses([{ ...tlsOf("missing"), annotations }], { more, flags });
    for (const name of names) expect(shown(withDefault, name), name).to.deep.equal(["default.example"]);
    const withoutTls = await explainIngresses([{ paths: ["Prefix /"], annotations }]);
    for (const name of names) expect(shown(withoutTls, name), name).to.equal(undefined);
  });

  it("a name that another namespace serves or lists keeps its own TLS if a host without a certificate requests it", async () => {
    const annotations = { "server-alias": "served.example, listed.example, x.w.example" };
    const more = [
      tlsSecret("served", ["served.example"], "other"),
      tlsSecret("listed", ["listed.example"], "other"),
      tlsSecret("wild", ["*.w.example"], "other"),
    ];
    const ofOther = (host: string, secretName: string, listed = host): IngressCase => ({
      ...tlsOf(secretName, [listed]),
      ...{ host, namespace: "other", day: 9 },
    });
    const cases = [
      { ...tlsOf("missing"), annotations, day: 1 },
      ofOther("served.example", "served"),
      ofOther("b.example", "listed", "listed.example"),
      ofOther("*.w.example", "wild"),
    ];
    const explained = await explainIngresses(cases, { more });
    expect(shown(explained, "served.example")).to.deep.equal(["served.example"]);
    expect(shown(explained, "listed.example")).to.deep.equal(["listed.example"]);
    expect(shown(explained, "x.w.example")).to.deep.equal(["*.w.example"]);
    const plain = await explainIngresses([
      { ...tlsOf("missing"), annotations, day: 1 },
      { paths: ["Prefix /"], host: "served.example", namespace: "other", day: 9 },
    ]);
    expect(shown(plain, "served.example")).to.equal(undefined);
  });

  it("an alias under spec.tls has its own certificate", async () => {
    const annotations = { "server-alias": "alias.example" };
    const more = [tlsSecret("cert", ["a.example", "alias.example"]), tlsSecret("own", ["alias.example"])];
    const tls = [
      { hosts: ["a.example"], secretName: "cert" },
      { hosts: ["alias.example"], secretName: "own" },
    ];
    const explained = await explainIngresses([{ paths: ["Prefix /"], annotations, tls }], { more });
    expect(shown(explained, "alias.example")).to.deep.equal(["alias.example"]);
  });
});
