import type { Cors } from "@svc-gateway/common/features/cors.ts";
import { expect } from "chai";
import { corsFilter } from "../../src/filters/cors.ts";
import { Fields } from "../../src/message/fields.ts";
import type { HeaderList } from "../../src/message/message.ts";
import { exchange } from "./support.ts";

const rules = (change: Partial<Cors>): Cors => ({
  allowOrigins: ["https://shop.example", "https://*.partner.example"],
  allowCredentials: false,
  allowMethods: ["GET", "PUT"],
  allowHeaders: ["X-Token"],
  exposeHeaders: [],
  maxAgeSeconds: 5,
  ...change,
});

const preflight = (origin: string, cors: Cors, asked = "X-Token") =>
  answer(cors, "OPTIONS", [
    "Origin",
    origin,
    "Access-Control-Request-Method",
    "PUT",
    "Access-Control-Request-Headers",
    asked,
  ]);

/** The status if the filter itself answers, and the fields of the response after it has passed the filter. */
function answer(cors: Cors, method: string, headers: HeaderList, response: readonly string[] = []) {
  const filter = corsFilter(cors);
  const under = exchange({ method, headers });
  const reply = filter.onRequest?.(under);
  if (reply instanceof Promise) throw new Error("the filter must not wait");
  const head = {
    status: reply?.status ?? 200,
    headers: Fields.of([...(reply?.headers ?? response)]),
    length: undefined,
    bodyless: false,
  };
  filter.onResponse?.(under, head);
  return { status: reply?.status, headers: head.headers.toList() };
}

describe("the cors filter", () => {
  it("cors: the preflight of an allowed origin is answered with what is allowed", () => {
    expect(preflight("https://shop.example", rules({}))).to.deep.equal({
      status: 204,
      headers: [
        ...["Access-Control-Allow-Methods", "GET, PUT"],
        ...["Access-Control-Allow-Headers", "X-Token"],
        ...["Access-Control-Max-Age", "5"],
        ...["Vary", "Origin"],
        ...["Access-Control-Allow-Origin", "https://shop.example"],
      ],
    });
  });

  it("cors: the preflight of another origin is answered without any CORS header", () => {
    for (const origin of [
      "https://evil.example",
      "http://shop.example",
      "https://shop.example.evil",
      "https://partner.example",
      "https://evilpartner.example",
      "null",
    ]) {
      expect(preflight(origin, rules({})), origin).to.deep.equal({
        status: 204,
        headers: ["Vary", "Origin"],
      });
    }
  });

  it("cors: a wildcard origin covers one or more labels of the host", () => {
    for (const origin of [
      "https://a.partner.example",
      "https://a.b.partner.example",
      "HTTPS://A.Partner.Example",
    ]) {
      expect(preflight(origin, rules({})).headers, origin).to.include(origin);
    }
  });

  it("cors: an origin without a port is the same as one with the default port of its scheme", () => {
    const written = [
      "https://a.example:443",
      "http://b.example",
      "https://*.c.example",
      "http://*.d.example:80",
      "http://*:9090",
      "https://*.e.example:8443",
    ];
    const allowed = [
      ...["https://a.example", "https://a.example:443", "http://b.example", "http://b.example:80"],
      ...["https://x.c.example", "http://x.d.example", "http://any:9090", "http://[::1]:9090"],
      "https://x.e.example:8443",
    ];
    const others = [
      ...["https://a.example:8443", "http://a.example", "http://b.example:443", "https://x.c.example:444"],
      ...[
        "http://x.d.example:8080",
        "http://any",
        "http://any:19090",
        "http://[::9090]",
        "https://x.e.example",
      ],
    ];
    const isAllowed = (origin: string) =>
      preflight(origin, rules({ allowOrigins: written })).headers.includes(origin);
    expect(allowed.filter((origin) => !isAllowed(origin))).to.deep.equal([]);
    expect(others.filter(isAllowed)).to.deep.equal([]);
  });

  it("cors: origins are compared by scheme, host and port, never by the end of a text", () => {
    const { headers: own } = preflight("https://x.partner.example:443", rules({}));
    expect(own).to.include("https://x.partner.example:443");
    for (const origin of [
      "https://evil.example/.partner.example",
      "https://evil.example?.partner.example",
      "https://evil.example#.partner.example",
      "https://evil.example\\.partner.example",
      "https://evil.example@x.partner.example",
      "https://x.partner.example/",
      "https://x.partner.example.",
      "https://.partner.example",
      "https://*.partner.example",
      "https://shop.example,https://shop.example",
    ]) {
      expect(preflight(origin, rules({})).headers, origin).to.deep.equal(["Vary", "Origin"]);
    }
  });

  it("cors: several Origin fields are not taken for an allowed origin", () => {
    const { headers } = answer(rules({}), "GET", [
      ...["Origin", "https://shop.example", "Origin", "https://shop.example"],
    ]);
    expect(headers).to.deep.equal(["Vary", "Origin"]);
  });

  it("cors: any origin is returned where * is allowed with credentials, but never a text that is no origin", () => {
    const open = rules({ allowOrigins: ["*"], allowCredentials: true });
    const granted = (origin: string): string | undefined => {
      const { headers } = answer(open, "GET", ["Origin", origin]);
      const at = headers.indexOf("Access-Control-Allow-Origin");
      return at < 0 ? undefined : headers[at + 1];
    };
    for (const origin of ["https://any.example", "http://[::1]:80", "null", "chrome-extension://abcdef"]) {
      expect(granted(origin)).to.equal(origin);
    }
    for (const origin of ["https://a.example/x", "a, b", "*", "https://u@a.example", "javascript:alert(1)"]) {
      expect(granted(origin), origin).to.equal(undefined);
    }
  });

  it("cors: a wildcard alone allows every host of its scheme, on the default port of that scheme", () => {
    const headers = (origin: string) => preflight(origin, rules({ allowOrigins: ["https://*"] })).headers;
    expect(headers("https://any.example")).to.include("https://any.example");
    expect(headers("https://any.example:444")).to.not.include("https://any.example:444");
    expect(headers("http://any.example")).to.not.include("http://any.example");
  });

  it("cors: the headers of the response are named instead of exposing * when credentials are allowed", () => {
    const exposed = (change: Partial<Cors>, response: readonly string[]) => {
      const { headers } = answer(
        rules({ exposeHeaders: ["*"], ...change }),
        "GET",
        ["Origin", "https://shop.example"],
        response,
      );
      const at = headers.indexOf("Access-Control-Expose-Headers");
      return at < 0 ? undefined : headers[at + 1];
    };
    const response = [
      ...["Content-Type", "text/html", "X-Page", "2", "x-page", "3", "ETag", '"1"', "Set-Cookie", "a=b"],
      ...["Access-Control-Max-Age", "5"],
    ];
    expect(exposed({}, response)).to.equal("*");
    expect(exposed({ allowCredentials: true }, response)).to.equal("x-page, ETag, Vary");
  });

  it("cors: the requested methods and headers are named instead of * when credentials are allowed", () => {
    const open = { allowOrigins: ["*"], allowMethods: ["*"], allowHeaders: ["*"] };
    expect(preflight("https://any.example", rules(open)).headers).to.deep.equal([
      ...["Access-Control-Allow-Methods", "*"],
      ...["Access-Control-Allow-Headers", "*"],
      ...["Access-Control-Max-Age", "5"],
      ...["Access-Control-Allow-Origin", "*"],
    ]);
    expect(
      preflight("https://any.example", rules({ ...open, allowCredentials: true }), "X-One, X-Two").headers,
    ).to.deep.equal([
      ...["Access-Control-Allow-Methods", "PUT"],
      ...["Access-Control-Allow-Headers", "X-One, X-Two"],
      ...["Access-Control-Max-Age", "5"],
      ...["Vary", "Origin"],
      ...["Access-Control-Allow-Origin", "https://any.example"],
      ...["Access-Control-Allow-Credentials", "true"],
    ]);
  });

  it("cors: other requests pass, including an OPTIONS request that is no preflight", () => {
    expect(answer(rules({}), "GET", ["Origin", "https://shop.example"]).status).to.equal(undefined);
    expect(answer(rules({}), "OPTIONS", ["Origin", "https://shop.example"]).status).to.equal(undefined);
    expect(answer(rules({}), "OPTIONS", ["Access-Control-Request-Method", "PUT"]).status).to.equal(undefined);
  });

  it("cors: CORS headers of the upstream are replaced", () => {
    const { headers } = answer(
      rules({ exposeHeaders: ["X-Count", "X-Page"] }),
      "GET",
      ["Origin", "https://shop.example"],
      ["access-control-allow-origin", "*", "vary", "Accept", "X-Page", "2"],
    );
    expect(headers).to.deep.equal([
      ...["vary", "Accept", "X-Page", "2", "Vary", "Origin"],
      ...["Access-Control-Allow-Origin", "https://shop.example"],
      ...["Access-Control-Expose-Headers", "X-Count, X-Page"],
    ]);
  });

  it("cors: a response to a request without an origin, or with another origin, has no CORS header", () => {
    expect(answer(rules({}), "GET", [], ["Vary", "accept, ORIGIN"]).headers).to.deep.equal([
      "Vary",
      "accept, ORIGIN",
    ]);
    expect(answer(rules({}), "GET", ["Origin", "https://evil.example"], ["A", "b"]).headers).to.deep.equal([
      "A",
      "b",
      "Vary",
      "Origin",
    ]);
  });
});
