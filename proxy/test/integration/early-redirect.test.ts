import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import { serveRoute, type ServedRoute } from "./served-route.ts";

const cors = {
  allowOrigins: ["https://page.example"],
  allowCredentials: true,
  allowMethods: ["GET"],
  allowHeaders: [],
  exposeHeaders: [],
  maxAgeSeconds: 5,
  onEveryResponse: true,
  early: true,
} as const;

describe("an early redirect", () => {
  let route: ServedRoute | undefined;
  afterEach(async () => {
    await route?.close();
    route = undefined;
  });
  const serve = async (features: RouteFeatures): Promise<ServedRoute> => (route = await serveRoute(features));

  it("an early redirect answers before addresses, credentials and the redirect to https", async () => {
    const { ask, seen } = await serve({
      redirect: { url: "https://new.example/place?a=b", statusCode: 301, early: true },
      "ip-access-control": { deny: [], allow: ["203.0.113.1/32"] },
      "ssl-redirect": { port: 443, statusCode: 308 },
      "auth-basic-secret": [{}],
    });
    const { status, headers, body } = await ask("/x?y=z");
    expect({ status, body }).to.deep.equal({ status: 301, body: "" });
    expect(headers.location).to.equal("https://new.example/place?a=b");
    expect(seen).to.have.length(0);
  });

  it("a redirect that is not early answers after addresses", async () => {
    const { ask } = await serve({
      redirect: { url: "https://new.example/", statusCode: 301 },
      "ip-access-control": { deny: [], allow: ["203.0.113.1/32"] },
    });
    expect((await ask("/")).status).to.equal(403);
  });

  it("a preflight is answered before an early redirect", async () => {
    const { ask } = await serve({
      cors,
      redirect: { url: "https://new.example/", statusCode: 302, early: true },
    });
    const headers = { origin: "https://page.example", "access-control-request-method": "GET" };
    expect((await ask("/", { method: "OPTIONS", headers })).status).to.equal(204);
    expect((await ask("/", { headers })).status).to.equal(302);
  });

  it("an early redirect has any status from 300 to 308", async () => {
    for (const statusCode of [300, 302, 303, 304, 305, 306, 307, 308]) {
      const { ask } = await serve({ redirect: { url: "https://new.example/", statusCode, early: true } });
      const answer = await ask("/", { method: "POST", body: "content" });
      expect(answer).to.deep.include({ status: statusCode, body: "" });
      expect(answer.headers.location).to.equal("https://new.example/");
      await route?.close();
      route = undefined;
    }
  });
});
