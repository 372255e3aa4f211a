import { expect } from "chai";
import { explainIngresses, type IngressCase } from "./explained.ts";

const annotations = { "ssl-passthrough": "true" };
const flags = ["--ingress-nginx-ssl-passthrough"];
const passed = (more: IngressCase = {}): IngressCase => ({ annotations, paths: ["Prefix /"], ...more });

/** The entries of the HTTPS port below HTTP. */
async function entries(cases: readonly IngressCase[], options: { readonly more?: readonly object[] } = {}) {
  const { folder, codes, ask, answer } = await explainIngresses(cases, { flags, ...options });
  const resource = folder.translation.scopes.shared.find(({ key }) => key === "l4|tls|443");
  const { hosts } = JSON.parse(resource?.body ?? '{"hosts":[]}') as {
    readonly hosts: readonly {
      readonly host: string;
      readonly mode: string;
      readonly route?: { readonly id: string };
    }[];
  };
  const list = hosts.map(({ host, mode, route }) => `${mode} ${host} ${route?.id ?? ""}`.trim());
  return { list, codes, ask, answer };
}

describe("ssl-passthrough of ingress-nginx", () => {
  it("TLS for the host goes to the backend of /, and plain HTTP is served by the routes", async () => {
    const { list, ask, answer, codes } = await entries([passed({ paths: ["Prefix /x", "Prefix /"] })]);
    expect(list).to.deep.equal(["passthrough a.example ingress/shop/i0:0.1"]);
    expect(answer("https://a.example/").outcome).to.equal("tls-listener");
    expect(ask("http://a.example/x")).to.include({ target: "/x" });
    expect(codes).to.deep.equal([]);
  });

  it("a host with regexes is passed to the backend of its path /", async () => {
    const { list } = await entries([passed(), { annotations: { "use-regex": "true" }, paths: ["/a.*"] }]);
    expect(list).to.deep.equal(["passthrough a.example ingress/shop/i0:0.0"]);
  });

  it("an Ingress of another namespace than the owner passes no TLS through", async () => {
    const { list, codes } = await entries([
      { namespace: "owner", paths: ["Prefix /"] },
      passed({ namespace: "guest", name: "guest", paths: ["Prefix /guest"] }),
    ]);
    expect(list).to.deep.equal([]);
    expect(codes).to.deep.equal(["HostWideNotYours guest/guest"]);
  });

  it("a host without the path / has its TLS terminated, with a finding", async () => {
    const { list, codes } = await entries([passed({ paths: ["Prefix /x"] })]);
    expect(list).to.deep.equal([]);
    expect(codes).to.deep.equal(["HostWideNotYours shop/i0"]);
  });

  it("a wildcard host is passed through without the exact hosts below it", async () => {
    const { list } = await entries([
      passed({ host: "*.w.example" }),
      { name: "exact", host: "a.w.example", paths: ["Prefix /"] },
    ]);
    expect(list).to.deep.equal(["http a.w.example", "passthrough *.w.example ingress/shop/i0:0.0"]);
  });

  it("a host without passthrough beside one with it is terminated", async () => {
    const more = { tls: [{ hosts: ["b.example"], secretName: "missing" }] };
    const { list, ask } = await entries([
      passed(),
      { name: "b", host: "b.example", paths: ["Prefix /"], ...more },
    ]);
    expect(list).to.deep.equal(["passthrough a.example ingress/shop/i0:0.0"]);
    expect(ask("https://b.example/x")).to.include({ target: "/x" });
  });

  it("TLS is terminated and the backend connected to over TLS without the flag", async () => {
    const { folder, codes, answer } = await explainIngresses([
      passed({ tls: [{ hosts: ["a.example"], secretName: "missing" }] }),
    ]);
    expect(folder.translation.scopes.shared.some(({ key }) => key.startsWith("l4|"))).to.equal(false);
    expect(answer("https://a.example/").outcome).to.equal("route");
    expect(codes).to.include.members(["ServedDifferently shop/i0", "BackendNotVerified shop/i0"]);
  });
});
