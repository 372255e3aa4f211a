import { expect } from "chai";
import { explainIngresses, type Explained, type IngressCase } from "./explained.ts";
import { tlsSecret } from "./tls-secret.ts";

/** Two Ingresses of one namespace and one of another share a host; the first requests client certificates. */
const sharing = (secret: string, more: IngressCase = {}): readonly IngressCase[] => [
  { annotations: { "auth-tls-secret": secret }, paths: ["Prefix /"], ...more },
  { name: "same", paths: ["Prefix /same"] },
  { name: "other", namespace: "other", paths: ["Prefix /other"] },
];

/** Malformed references, one to another namespace without a grant, and one to a Secret that does not exist. */
const unusable = ["ca", "shop/", "SHOP/ca", "a/b/c", "other/ca", "shop/missing"];

describe("auth-tls-secret of ingress-nginx that cannot be used", () => {
  it("an unusable auth-tls-secret closes the whole host over TLS with 403", async () => {
    for (const secret of unusable) {
      const { answer } = await explainIngresses(sharing(secret, { tls: [{ hosts: ["a.example"] }] }));
      for (const path of ["/x", "/same", "/other"]) {
        const { outcome, clients } = answer(`https://a.example${path}`);
        expect(outcome, `${secret} ${path}`).to.equal("closed");
        expect(clients, `${secret} ${path}`).to.include({ owner: "ingress/shop/i0", status: 403 });
      }
    }
  });

  it("without TLS an unusable auth-tls-secret closes the paths of the namespace with 403, and explain says so", async () => {
    for (const secret of unusable) {
      const { ask } = await explainIngresses(sharing(secret));
      expect(ask("http://a.example/x"), secret).to.deep.equal({ status: 403, route: "shop/i0:0.0" });
      expect(ask("http://a.example/same"), secret).to.deep.equal({ status: 403, route: "shop/same:0.0" });
      expect(ask("http://a.example/other"), secret).to.include({ target: "/other" });
    }
  });

  it("an auth-tls-secret with characters that ingress-nginx refuses closes the paths of its Ingress with 503", async () => {
    for (const secret of ["shop/a b", "shop/ca;", "shop/c$a"]) {
      const { answer, ask } = await explainIngresses(sharing(secret, { tls: [{ hosts: ["a.example"] }] }));
      expect(answer("https://a.example/x").reply.status, secret).to.equal(503);
      expect(ask("https://a.example/same"), secret).to.include({ target: "/same" });
      expect(ask("https://a.example/other"), secret).to.include({ target: "/other" });
    }
  });
});

describe("client certificates of server-alias of ingress-nginx", () => {
  const more = [
    tlsSecret("ca", ["ca.example"]),
    tlsSecret("cert", ["a.example", "b.example"]),
    tlsSecret("own", ["alias.example"]),
    tlsSecret("default", ["default.example"]),
  ];
  const annotations = { "auth-tls-secret": "shop/ca", "server-alias": "alias.example" };
  const tls = [{ hosts: ["a.example", "b.example"], secretName: "cert" }];
  const flags = ["--default-tls-secret", "shop/default"];
  /** The owner of the rules by which a request without a client certificate is refused; undefined if it is served. */
  const refusedBy = ({ answer }: Explained, url: string): unknown => {
    const { clients } = answer(url);
    return clients?.need === "certificate" && clients.refusals?.[0]?.status === 400
      ? clients.owner
      : clients?.need;
  };

  it("an alias that no certificate of its host covers requests client certificates with the default one", async () => {
    const explained = await explainIngresses([{ paths: ["Prefix /"], annotations, tls }], { more, flags });
    for (const host of ["a.example", "alias.example"]) {
      expect(refusedBy(explained, `https://${host}/x`), host).to.equal("ingress/shop/i0");
    }
    expect(explained.answer("https://alias.example/x").tls?.certificates[0]?.names).to.deep.equal([
      "default.example",
    ]);
  });

  it("an alias under spec.tls of another Ingress requests the client certificates of its host", async () => {
    const other = {
      host: "c.example",
      paths: ["Prefix /"],
      tls: [{ hosts: ["alias.example"], secretName: "own" }],
    };
    const cases = [{ paths: ["Prefix /"], annotations, tls }, other];
    const explained = await explainIngresses(cases, { more });
    expect(refusedBy(explained, "https://alias.example/x")).to.equal("ingress/shop/i0");
    expect(refusedBy(explained, "https://c.example/x")).to.equal(undefined);
  });

  it("an alias of several hosts refuses clients on the paths of other namespaces as the hosts do", async () => {
    const cases = [
      { rules: { "a.example": ["Prefix /x"], "b.example": ["Prefix /y"] }, annotations, tls },
      { name: "other", namespace: "other", paths: ["Prefix /other"] },
    ];
    const explained = await explainIngresses(cases, { more, flags });
    for (const url of ["a.example/other", "alias.example/other", "alias.example/x", "alias.example/y"]) {
      expect(refusedBy(explained, `https://${url}`), url).to.equal("ingress/shop/i0");
    }
  });

  it("an alias of hosts with different rules refuses clients by the rules of the host of each path", async () => {
    const cases = [
      {
        rules: { "a.example": ["Prefix /x"], "b.example": ["Prefix /y"] },
        annotations: { "server-alias": "alias.example" },
        tls,
      },
      {
        host: "b.example",
        paths: ["Prefix /z"],
        tls: [{ hosts: ["b.example"], secretName: "cert" }],
        annotations: { "auth-tls-secret": "shop/ca" },
      },
      { name: "other", namespace: "other", host: "b.example", paths: ["Prefix /other"] },
    ];
    const explained = await explainIngresses(cases, { more, flags });
    expect(refusedBy(explained, "https://alias.example/x")).to.equal(undefined);
    for (const path of ["y", "z", "other"]) {
      expect(refusedBy(explained, `https://alias.example/${path}`), path).to.equal("ingress/shop/i1");
    }
  });
});
