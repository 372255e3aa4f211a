import { once } from "node:events";
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { expect } from "chai";
import { jwksKey, sessionKeyKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { timestamp } from "@svc-gateway/common/telemetry/timestamp.ts";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { makeKey, signToken } from "../auth/tokens.ts";
import { startGateway, startHttp, type Gateway } from "./gateway.ts";

const minute = 60;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("a wall clock that is set while a proxy serves", () => {
  const wallClock = Date.now;
  const key = makeKey("EC", "ES256", "one");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let setByMs = 0;
  let gateway: Gateway;
  let upstream: Awaited<ReturnType<typeof startHttp>>;

  before(async () => {
    upstream = await startHttp((_, response) => void response.end("hello"));
  });
  after(() => upstream.close());
  beforeEach(async () => {
    setByMs = 0;
    Date.now = () => wallClock() + setByMs;
    gateway = await startGateway({
      ports: [upstream.port],
      features: {
        "auth-jwt": [
          {
            rules: {
              keySet: "ns/id",
              issuer: "https://id.example",
              audiences: ["shop"],
              fromHeaders: [{ name: "Authorization", prefix: "Bearer " }],
              forward: false,
              claimToHeaders: [],
            },
          },
        ],
        "rate-limit": { requestsPerSecond: 0.001, burst: 2, byHeader: "x-key" },
      },
      resources: [
        encodeResource<"jwks">(jwksKey("ns/id"), { keys: [key.public] }),
        encodeResource<"session-key">(sessionKeyKey, { key: Buffer.alloc(32, 7).toString("base64") }),
      ],
      route: { affinity: { cookie: "SID", path: "/", expiresSeconds: 600 } },
    });
  });
  afterEach(async () => {
    Date.now = wallClock;
    agent.destroy();
    await gateway.close();
  });

  const setClock = (byMs: number): void => void (setByMs = byMs);

  /** A request on the only connection of the client. */
  async function ask(token: string, headers: OutgoingHttpHeaders = {}) {
    const asked = request({
      port: gateway.port,
      agent,
      headers: { host: "a.example", authorization: `Bearer ${token}`, ...headers },
    });
    asked.end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return { status: response.statusCode, headers: response.headers, reused: asked.reusedSocket };
  }

  for (const [what, byMs] of [
    ["forward by an hour", hourMs],
    ["forward by a day", dayMs],
    ["back by an hour", -hourMs],
    ["back by a day", -dayMs],
  ] as const) {
    it(`a clock that is set ${what} neither frees nor blocks clients of a rate limit, and closes no connection`, async () => {
      const token = await signToken(key, { exp: Math.floor((wallClock() + 2 * dayMs) / 1000) });
      const limited = { "x-key": "one" };
      for (let i = 0; i < 3; i++) await ask(token, limited);
      expect((await ask(token, limited)).status).to.equal(429);
      setClock(byMs);
      const refused = await ask(token, limited);
      expect([refused.status, refused.reused]).to.deep.equal([429, true]);
      expect(Number(refused.headers["retry-after"])).to.be.within(1, 1000);
      expect((await ask(token, { "x-key": "two" })).status).to.equal(200);
    });

    it(`a token is judged by the new time after the clock is set ${what}, also one that was accepted before`, async () => {
      const nowSeconds = Math.floor(wallClock() / 1000);
      const short = await signToken(key, { exp: nowSeconds + 30 * minute });
      const young = await signToken(key, { nbf: nowSeconds - 30 * minute, exp: nowSeconds + 3 * 24 * 3600 });
      for (const token of [short, young, short, young]) expect((await ask(token)).status).to.equal(200);
      setClock(byMs);
      expect((await ask(short)).status).to.equal(byMs > 0 ? 401 : 200);
      expect((await ask(young)).status).to.equal(byMs > 0 ? 200 : 401);
      setClock(0);
      for (const token of [short, young]) expect((await ask(token)).status).to.equal(200);
    });

    it(`fields and log lines have the new time after the clock is set ${what}`, async () => {
      const token = await signToken(key, { exp: Math.floor((wallClock() + 2 * dayMs) / 1000) });
      await ask("");
      timestamp(Date.now());
      setClock(byMs);
      const nowMs = Date.now();
      const near = 120_000;
      // The answers of the proxy itself have its own Date.
      const refused = await ask("");
      expect(refused.status).to.equal(401);
      expect(Date.parse(refused.headers.date ?? "")).to.be.closeTo(nowMs, near);
      const { headers } = await ask(token);
      const expires = /Expires=([^;]+)/.exec(headers["set-cookie"]?.[0] ?? "")?.[1] ?? "";
      expect(Date.parse(expires)).to.be.closeTo(nowMs + 600_000, near);
      expect(Date.parse(timestamp(nowMs))).to.equal(nowMs);
    });

    it(`what is remembered of passwords and authorization services expires no earlier and no later when the clock is set ${what}`, () => {
      const store = createAuthStore();
      const beforeMs = store.now();
      store.answers.set("key", { status: 200, headers: [] }, beforeMs + 600_000);
      setClock(byMs);
      expect(store.now() - beforeMs).to.be.within(0, 300_000);
      expect(store.answers.get("key", store.now())?.status).to.equal(200);
      store.close();
    });
  }
});
