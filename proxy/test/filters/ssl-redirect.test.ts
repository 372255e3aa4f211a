import type { SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import { expect } from "chai";
import { sslRedirectFilter } from "../../src/filters/ssl-redirect.ts";
import { exchange, type ExchangeOptions } from "./support.ts";

function run(port: number, options: ExchangeOptions) {
  return redirect("/p", "?q=1", { port, statusCode: 308 }, options);
}

function redirect(path: string, query: string, value: SslRedirect, options: ExchangeOptions = {}) {
  const under = exchange(options);
  under.host = "a.example";
  under.authority = "a.example:8080";
  under.path = path;
  under.query = query;
  return sslRedirectFilter(value).onRequest?.(under);
}

describe("the ssl-redirect filter", () => {
  it("ssl-redirect: cleartext requests are redirected to the same URL with https at the public port", () => {
    expect(run(443, { publicPort: 8080 })).to.deep.equal({
      status: 308,
      headers: ["Location", "https://a.example/p?q=1"],
      body: "",
    });
    expect(run(8443, {})).to.have.deep.property("headers", ["Location", "https://a.example:8443/p?q=1"]);
  });

  for (const [path, query, location] of [
    ["/a/", "", "https://a.example/a"],
    ["/", "", "https://a.example"],
    ["/a", "?next=/b/", "https://a.example/a?next=/b"],
    ["/a//", "", "https://a.example/a/"],
    ["/a", "", "https://a.example/a"],
  ] as const) {
    it(`ssl-redirect: with cutSlash, ${path}${query} is redirected to ${location}`, () => {
      expect(redirect(path, query, { cutSlash: true, port: 443, statusCode: 308 })).to.have.deep.property(
        "headers",
        ["Location", location],
      );
    });
  }

  it("ssl-redirect: a request over TLS passes", () => {
    expect(run(443, { secure: true, publicPort: 443 })).to.equal(undefined);
  });
});
