import { expect } from "chai";
import type { Cors } from "@svc-gateway/common/features/cors.ts";
import type { HeaderList } from "../../src/http/message.ts";
import { corsFilter } from "../../src/filters/cors.ts";
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

/** What the filter answers itself, and the fields of the response once it has passed the filter. */
function answer(cors: Cors, method: string, headers: HeaderList, response: readonly string[] = []) {
  const filter = corsFilter(cors);
  const under = exchange({ method, headers });
  const reply = filter.onRequest?.(under);
  if (reply instanceof Promise) throw new Error("the filter must not wait");
  const head = {
    status: reply?.status ?? 200,
    headers: [...(reply?.headers ?? response)],
    length: undefined,
    bodyless: false,
  };
  filter.onResponse?.(under, head);
  return { status: reply?.status, headers: head.headers };
}

describe("the cors filter", () => {
  it("answers the preflight of an origin that is allowed", () => {
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

  it("says nothing to the preflight of another origin", () => {
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

  it("lets a wildcard stand for one or more labels of the host", () => {
    for (const origin of [
      "https://a.partner.example",
      "https://a.b.partner.example",
      "HTTPS://A.Partner.Example",
    ]) {
      expect(preflight(origin, rules({})).headers, origin).to.include(origin);
    }
  });

  it("names what was asked for instead of * when credentials are allowed", () => {
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

  it("lets other requests pass, an OPTIONS that is no preflight too", () => {
    expect(answer(rules({}), "GET", ["Origin", "https://shop.example"]).status).to.equal(undefined);
    expect(answer(rules({}), "OPTIONS", ["Origin", "https://shop.example"]).status).to.equal(undefined);
    expect(answer(rules({}), "OPTIONS", ["Access-Control-Request-Method", "PUT"]).status).to.equal(undefined);
  });

  it("replaces what the upstream says about origins", () => {
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

  it("says nothing about origins to a request without one, or of another origin", () => {
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
