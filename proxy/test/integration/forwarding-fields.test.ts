import type { ForwardingFields } from "@svc-gateway/common/features/forwarding-fields.ts";
import { expect } from "chai";
import { exchange, eventually, type Plan } from "./gateway.ts";
import { serveRoute, type ServedRoute } from "./served-route.ts";

const all: ForwardingFields = {
  requestId: true,
  scheme: true,
  original: "x-forwarded-for",
  originalUri: true,
  withoutVia: true,
  names: "plain",
};

describe("forwarding fields, through the whole data plane", () => {
  let served: ServedRoute | undefined;

  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  const serve = async (features: NonNullable<Plan["features"]>): Promise<ServedRoute> =>
    (served = await serveRoute(features));

  it("forwarding-fields: the backend gets an id of the request, the scheme, and what the client had sent", async () => {
    const { ask, seen } = await serve({
      "forwarding-fields": all,
      "rewrite-target": { path: { type: "full", value: "/new" } },
    });
    await ask("/old/?a=b", {
      headers: {
        "X-Forwarded-For": "203.0.113.5",
        "X-Forwarded-Host": "spoofed.example",
        "X-Forwarded-Proto": "https",
        "X-Scheme": "gopher",
        "X-Forwarded-Scheme": "gopher",
        "X-Original-URI": "/admin",
        "X-Original-Forwarded-For": "192.0.2.1",
        Via: "1.0 other",
        Proxy: "http://evil.example",
      },
    });
    const { headers, url } = seen[0]?.message ?? {};
    expect(url).to.equal("/new?a=b");
    expect(headers).to.include({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": "a.example",
      "x-forwarded-proto": "http",
      "x-forwarded-scheme": "http",
      "x-scheme": "http",
      "x-original-forwarded-for": "203.0.113.5",
      "x-original-forwarded-host": "spoofed.example",
      "x-original-uri": "/old/?a=b",
      via: "1.0 other",
    });
    expect(headers?.["x-request-id"]).to.match(/^[0-9a-f]{32}$/);
    expect(headers).not.to.have.property("proxy");
  });

  it("forwarding-fields: what a client has not sent is not forwarded, and what it forges is removed", async () => {
    const { ask, seen } = await serve({ "forwarding-fields": all });
    await ask("/", { headers: { "X-Original-Forwarded-Host": "forged", x_scheme: "https" } });
    const { headers } = seen[0]?.message ?? {};
    for (const name of ["x-original-forwarded-for", "x-original-forwarded-host", "x_scheme", "via"]) {
      expect(headers).not.to.have.property(name);
    }
  });

  it("forwarding-fields: each request gets another id, and the client's own one is kept unless it is empty", async () => {
    const { ask, seen } = await serve({ "forwarding-fields": all });
    for (const id of [undefined, undefined, "mine", "", "x".repeat(1025)]) {
      await ask("/", id === undefined ? {} : { headers: { "x-request-id": id } });
    }
    const ids = seen.map(({ message }) => String(message.headers["x-request-id"]));
    expect(ids[2]).to.equal("mine");
    const made = ids.filter((_, index) => index !== 2);
    for (const id of made) expect(id).to.match(/^[0-9a-f]{32}$/);
    expect(new Set(made).size).to.equal(4);
  });

  it("forwarding-fields: the backend gets one id where a client sends several and spells them in other ways", async () => {
    const { gateway, seen } = await serve({ "forwarding-fields": { requestId: true } });
    const lines = ["X-Request-ID: one", "x-request-id: two", "X_Request_ID: three", "Connection: close"];
    await exchange(gateway.port, `GET / HTTP/1.1\r\nHost: a.example\r\n${lines.join("\r\n")}\r\n\r\n`);
    await eventually(() => seen.length === 1);
    const { rawHeaders = [] } = seen[0]?.message ?? {};
    const ids = rawHeaders.filter((_, index) => /^x.request.id$/i.test(rawHeaders[index - 1] ?? ""));
    expect(ids).to.deep.equal(["one"]);
  });

  it("forwarding-fields: names with other characters than letters, digits and hyphens are dropped where asked", async () => {
    const { gateway, ask, seen } = await serve({ "forwarding-fields": { names: "plain" } });
    const headers = { under_score: "1", "dot.ted": "1", "x-plain1": "1" };
    await ask("/", { headers });
    expect(seen[0]?.message.headers).to.include({ "x-plain1": "1" });
    expect(seen[0]?.message.headers).not.to.have.any.keys("under_score", "dot.ted");
    gateway.update({ ...gateway.plan, features: { "forwarding-fields": { names: "underscores" } } });
    await ask("/", { headers });
    expect(seen[1]?.message.headers).to.include({ "x-plain1": "1", under_score: "1" });
    expect(seen[1]?.message.headers).not.to.have.property("dot.ted");
    gateway.update({ ...gateway.plan, features: {} });
    await ask("/", { headers });
    expect(seen[2]?.message.headers).to.include({ ...headers, via: "1.1 svc" });
  });

  it("forwarding-fields: the address of the client alone replaces the chain where asked", async () => {
    const trust = { header: "X-Forwarded-For" };
    const { gateway, ask, seen } = await serve({
      "trust-forwarded-for": trust,
      "forwarding-fields": { clientOnly: true },
    });
    await ask("/", { headers: { "x-forwarded-for": "203.0.113.5, 10.0.0.1" } });
    expect(seen[0]?.message.headers["x-forwarded-for"]).to.equal("203.0.113.5");
    gateway.update({ ...gateway.plan, features: { "trust-forwarded-for": trust } });
    await ask("/", { headers: { "x-forwarded-for": "203.0.113.5, 10.0.0.1" } });
    expect(seen[1]?.message.headers["x-forwarded-for"]).to.equal("203.0.113.5, 10.0.0.1, 127.0.0.1");
  });

  it("trust-forwarded-for: scheme, host and port of a trusted peer count for redirects and the backend", async () => {
    const trust = { header: "X-Forwarded-For", trustedCidrs: ["127.0.0.0/8"], trustsUrl: true as const };
    const features = {
      "trust-forwarded-for": trust,
      "forwarding-fields": { scheme: true as const },
      "ssl-redirect": { port: 443, statusCode: 308 as const },
    };
    const { gateway, ask, seen } = await serve(features);
    const fromTls = {
      "x-forwarded-proto": "https, http",
      "x-forwarded-host": "www.example:8443, a.example",
      "x-forwarded-port": "8443",
    };
    expect((await ask("/", { headers: fromTls })).status).to.equal(200);
    expect(seen[0]?.message.headers).to.include({
      "x-forwarded-proto": "https, http",
      "x-forwarded-host": "www.example:8443",
      "x-forwarded-port": "8443",
    });
    const plain = await ask("/", { headers: { ...fromTls, "x-forwarded-proto": "http" } });
    expect([plain.status, plain.headers.location]).to.deep.equal([308, "https://www.example/"]);
    const broken = { "x-forwarded-host": "a/b", "x-forwarded-port": "http", "x-forwarded-proto": "https" };
    expect((await ask("/", { headers: broken })).status).to.equal(200);
    expect(seen[1]?.message.headers).to.include({
      "x-forwarded-host": "a.example",
      "x-forwarded-port": "80",
    });
    const untrusted = { ...trust, trustedCidrs: ["192.0.2.0/24"] };
    gateway.update({ ...gateway.plan, features: { ...features, "trust-forwarded-for": untrusted } });
    expect((await ask("/", { headers: fromTls })).status).to.equal(308);
  });
});
