import type { RequestListener } from "node:http";
import type { Cors } from "@svc-gateway/common/features/cors.ts";
import { expect } from "chai";
import type { Plan } from "./gateway.ts";
import { serveRoute, type Answer, type ServedRoute } from "./served-route.ts";

const cors = (change: Partial<Cors> = {}): Cors => ({
  allowOrigins: ["https://shop.example", "https://*.partner.example:8443", "null"],
  allowCredentials: true,
  allowMethods: ["GET,PUT"],
  allowHeaders: ["DNT,X-Token"],
  exposeHeaders: [],
  maxAgeSeconds: 600,
  onEveryResponse: true,
  early: true,
  ...change,
});

const fieldsOf = ({ headers }: Answer): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-")));

const granted = (origin: string): Record<string, string> => ({
  "access-control-allow-origin": origin,
  "access-control-allow-credentials": "true",
  "access-control-allow-methods": "GET,PUT",
  "access-control-allow-headers": "DNT,X-Token",
  "access-control-max-age": "600",
});

describe("cors on every response, through the whole data plane", () => {
  let served: ServedRoute | undefined;

  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  const serve = async (
    features: NonNullable<Plan["features"]>,
    respond?: RequestListener,
    plan?: Partial<Plan>,
  ): Promise<ServedRoute> => (served = await serveRoute(features, respond, plan));

  it("cors on every response: an allowed origin gets all fields on a response, in place of the backend's", async () => {
    const { ask } = await serve({ cors: cors() }, (_, response) => {
      response.setHeader("Access-Control-Allow-Origin", "https://old.example");
      response.setHeader("Access-Control-Allow-Credentials", "false");
      response.setHeader("access-control-max-age", "1");
      response.setHeader("Access-Control-Expose-Headers", "X-Page");
      response.end("ok");
    });
    const answer = await ask("/", { headers: { origin: "https://shop.example" } });
    expect(fieldsOf(answer)).to.deep.equal({
      ...granted("https://shop.example"),
      "access-control-expose-headers": "X-Page",
    });
    expect(answer.headers["vary"]).to.equal("Origin");
  });

  it("cors on every response: another origin and a request without one get no field of the backend either", async () => {
    const { ask } = await serve({ cors: cors() }, (_, response) => {
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.setHeader("Access-Control-Expose-Headers", "X-Page");
      response.end("ok");
    });
    const foreign = [
      "https://evil.example",
      "https://shop.example.evil",
      "https://evil-shop.example",
      "xhttps://shop.example",
      "https://shop.example:443",
      "https://a.b.partner.example:8443",
      "https://.partner.example:8443",
      "https://partner.example:8443",
      "https://a.partner.example",
      "https://evil.example/x.partner.example:8443",
      "https://shop.example, https://shop.example",
    ];
    for (const origin of foreign) {
      expect(fieldsOf(await ask("/", { headers: { origin } })), origin).to.deep.equal({});
    }
    expect(fieldsOf(await ask("/"))).to.deep.equal({});
  });

  it("cors on every response: origins are compared without case, a * is one label, and null may be listed", async () => {
    const { ask } = await serve({ cors: cors() });
    for (const origin of ["HTTPS://Shop.Example", "https://A-1.partner.EXAMPLE:8443", "null"]) {
      const answer = await ask("/", { headers: { origin } });
      expect(answer.headers["access-control-allow-origin"], origin).to.equal(origin);
    }
  });

  it("cors on every response: OPTIONS of an allowed origin gets 204 before addresses and authentication", async () => {
    const { ask, seen } = await serve({
      cors: cors(),
      "ip-access-control": { deny: ["127.0.0.0/8"] },
      "auth-basic-secret": [{}],
    });
    const answer = await ask("/x", { method: "OPTIONS", headers: { origin: "https://shop.example" } });
    expect(answer.status).to.equal(204);
    expect(answer.body).to.equal("");
    expect(fieldsOf(answer)).to.deep.equal(granted("https://shop.example"));
    expect((await ask("/x", { method: "OPTIONS" })).status).to.equal(403);
    const foreign = await ask("/x", { method: "OPTIONS", headers: { origin: "https://evil.example" } });
    expect(foreign.status).to.equal(403);
    expect(fieldsOf(foreign)).to.deep.equal({});
    const refused = await ask("/x", { headers: { origin: "https://shop.example" } });
    expect(refused.status).to.equal(403);
    expect(fieldsOf(refused)).to.deep.equal(granted("https://shop.example"));
    expect(seen).to.have.length(0);
  });

  it("cors on every response: OPTIONS of another origin goes to the backend", async () => {
    const { ask, seen } = await serve({ cors: cors() });
    const answer = await ask("/x", { method: "OPTIONS", headers: { origin: "https://evil.example" } });
    expect([answer.status, answer.body]).to.deep.equal([200, "upstream"]);
    expect(seen.map(({ message }) => message.method)).to.deep.equal(["OPTIONS"]);
  });

  it("cors on every response: with * every response and OPTIONS get the fields, also without an Origin", async () => {
    const { ask, seen } = await serve({ cors: cors({ allowOrigins: ["*"], exposeHeaders: ["X-A,X-B"] }) });
    const open = { ...granted("*"), "access-control-expose-headers": "X-A,X-B" };
    const get = await ask("/");
    expect(fieldsOf(get)).to.deep.equal(open);
    expect(get.headers).not.to.have.property("vary");
    const options = await ask("/", { method: "OPTIONS" });
    expect([options.status, fieldsOf(options)]).to.deep.equal([204, open]);
    const foreign = await ask("/", { headers: { origin: "https://any.example" } });
    expect(fieldsOf(foreign)).to.deep.equal(open);
    expect(seen).to.have.length(2);
  });

  it("cors on every response: an empty list of origins allows no origin", async () => {
    const { ask } = await serve({ cors: cors({ allowOrigins: [] }) });
    const answer = await ask("/", { method: "OPTIONS", headers: { origin: "https://shop.example" } });
    expect([answer.status, fieldsOf(answer)]).to.deep.equal([200, {}]);
  });

  it("cors on every response: errors of the proxy have the fields, without credentials where they are off", async () => {
    const { ask } = await serve({ cors: cors({ allowCredentials: false }) }, undefined, { ports: [] });
    const answer = await ask("/", { headers: { origin: "https://shop.example" } });
    expect(answer.status).to.equal(503);
    expect(fieldsOf(answer)).to.deep.equal({
      "access-control-allow-origin": "https://shop.example",
      "access-control-allow-methods": "GET,PUT",
      "access-control-allow-headers": "DNT,X-Token",
      "access-control-max-age": "600",
    });
  });
});
