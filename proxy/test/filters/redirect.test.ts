import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import { expect } from "chai";
import { redirectFilter } from "../../src/filters/redirect.ts";
import { exchange, type ExchangeOptions } from "./support.ts";

function locationFor(
  redirect: Omit<Redirect, "statusCode">,
  options: ExchangeOptions & { readonly host?: string } = {},
): string | number | undefined {
  const under = exchange(options);
  under.host = options.host ?? "a.example";
  under.authority = `${under.host}:9999`;
  under.path = "/p";
  under.query = "?q=1";
  const reply = redirectFilter({ ...redirect, statusCode: 302 }).onRequest?.(under);
  if (reply instanceof Promise || reply === undefined) throw new Error("the filter answers at once");
  if (reply.headers === undefined) return reply.status;
  expect(reply.status).to.equal(302);
  expect(reply.body).to.equal("");
  expect(reply.headers[0]).to.equal("Location");
  return reply.headers[1];
}

describe("the redirect filter", () => {
  it("redirect: scheme, public port, path and query of the request are kept unless replaced", () => {
    const hostname = "b.example";
    expect(locationFor({ hostname })).to.equal("http://b.example/p?q=1");
    expect(locationFor({ hostname }, { publicPort: 8080 })).to.equal("http://b.example:8080/p?q=1");
    expect(locationFor({ hostname }, { secure: true, publicPort: 443 })).to.equal("https://b.example/p?q=1");
    expect(locationFor({ hostname }, { secure: true, publicPort: 80 })).to.equal(
      "https://b.example:80/p?q=1",
    );
  });

  it("redirect: a scheme brings its default port unless a port is named", () => {
    const onPort8080 = { publicPort: 8080 };
    expect(locationFor({ scheme: "https" }, onPort8080)).to.equal("https://a.example/p?q=1");
    expect(locationFor({ scheme: "http" }, onPort8080)).to.equal("http://a.example/p?q=1");
    expect(locationFor({ scheme: "https", port: 8443 })).to.equal("https://a.example:8443/p?q=1");
    expect(locationFor({ scheme: "https", port: 80 })).to.equal("https://a.example:80/p?q=1");
  });

  it("redirect: the default port of the scheme is not written", () => {
    expect(locationFor({ port: 80 }, { publicPort: 8080 })).to.equal("http://a.example/p?q=1");
    expect(locationFor({ port: 443 })).to.equal("http://a.example:443/p?q=1");
    expect(locationFor({ scheme: "https", port: 443 })).to.equal("https://a.example/p?q=1");
  });

  it("redirect: a full path replacement keeps the query", () => {
    const path = { type: "full", value: "/new" } as const;
    expect(locationFor({ path })).to.equal("http://a.example/new?q=1");
  });

  it("redirect: the brackets of an IPv6 host are kept", () => {
    expect(locationFor({ port: 81 }, { host: "[::1]" })).to.equal("http://[::1]:81/p?q=1");
  });

  it("redirect: a request without a host gets 400 unless the redirect names one", () => {
    expect(locationFor({ scheme: "https" }, { host: "", version: "1.0" })).to.equal(400);
    expect(locationFor({ hostname: "b.example" }, { host: "", version: "1.0" })).to.equal(
      "http://b.example/p?q=1",
    );
  });

  it("redirect: a whole URL is the location of every request, with any status of a redirect", () => {
    for (const statusCode of [300, 303, 304, 308]) {
      const under = exchange({ version: "1.0" });
      under.path = "/p";
      under.query = "?q=1";
      const url = "https://b.example:8443/new?x=$host#f";
      const reply = redirectFilter({ url, statusCode, hostname: "c.example" }).onRequest?.(under);
      expect(reply).to.deep.equal({ status: statusCode, headers: ["Location", url], body: "" });
    }
  });

  it("redirect: the origin that was received is the scheme of the connection and Host with its port", () => {
    const path = { type: "full", value: "/app" } as const;
    const received = { path, origin: "received" } as const;
    expect(locationFor({ ...received, query: "none" })).to.equal("http://a.example:9999/app");
    expect(locationFor(received, { secure: true })).to.equal("https://a.example:9999/app?q=1");
    const under = exchange({ version: "1.0" });
    const reply = redirectFilter({ ...received, statusCode: 302 }).onRequest?.(under);
    expect(reply).to.have.property("status", 400);
  });

  it("redirect: a location without an origin is a path", () => {
    expect(locationFor({ path: { type: "full", value: "/app" }, origin: "none", query: "none" })).to.equal(
      "/app",
    );
    expect(locationFor({ origin: "none" })).to.equal("/p?q=1");
  });

  it("redirect: the query is left out where the redirect says so", () => {
    expect(locationFor({ hostname: "b.example", query: "none" })).to.equal("http://b.example/p");
  });
});
