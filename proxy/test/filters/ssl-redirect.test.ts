import { expect } from "chai";
import { sslRedirectFilter } from "../../src/filters/ssl-redirect.ts";
import { exchange, type ExchangeOptions } from "./support.ts";

function run(port: number, options: ExchangeOptions) {
  const under = exchange(options);
  under.host = "a.example";
  under.authority = "a.example:8080";
  under.path = "/p";
  under.query = "?q=1";
  return sslRedirectFilter({ port, statusCode: 308 }).onRequest?.(under);
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

  it("ssl-redirect: a request over TLS passes", () => {
    expect(run(443, { secure: true, publicPort: 443 })).to.equal(undefined);
  });
});
