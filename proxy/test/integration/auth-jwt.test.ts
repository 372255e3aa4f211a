import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { expect } from "chai";
import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import { jwksKey, routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { FairTurns } from "../../src/auth/fair-turns.ts";
import { makeKey, signToken, type TestKey } from "../auth/tokens.ts";
import { eventually, startGateway, startHttp, type Gateway, type Plan } from "./gateway.ts";

const rules: TokenRules = {
  keySet: "ns/id",
  issuer: "https://id.example",
  audiences: ["shop"],
  fromHeaders: [{ name: "Authorization", prefix: "Bearer " }],
  forward: false,
  claimToHeaders: [{ claim: "sub", header: "X-User" }],
  payloadHeader: "X-Claims",
};
const keySetOf = (name: string, ...keys: readonly TestKey[]): Resource =>
  encodeResource<"jwks">(jwksKey(name), { keys: keys.map((key) => key.public) });
const plan = (more: Partial<TokenRules>, ...keys: readonly TestKey[]): Omit<Plan, "ports"> => ({
  features: { "auth-jwt": [{ rules: { ...rules, ...more } }] },
  resources: [keySetOf("ns/id", ...keys)],
});

describe("auth-jwt, through the whole data plane", () => {
  const key = makeKey("EC", "ES256", "one");
  let gateway: Gateway;
  let seen: IncomingMessage[];
  let ports: readonly number[];
  let stop: (() => Promise<void> | void)[];

  beforeEach(async () => {
    seen = [];
    const upstream = await startHttp((message, response) => {
      seen.push(message);
      response.end("upstream");
    });
    ports = [upstream.port];
    gateway = await startGateway({ ports, ...plan({}, key) });
    stop = [() => upstream.close(), () => gateway.close()];
  });
  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
  });

  async function send(headers: Record<string, string | string[]>): Promise<IncomingMessage> {
    const options = { host: "127.0.0.1", port: gateway.port, agent: false };
    const sent = request({ ...options, headers: { host: "a.example", ...headers } });
    sent.end();
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    message.resume();
    return message;
  }
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

  it("auth-jwt: a valid token passes and its claims go to the upstream", async () => {
    const token = await signToken(key);
    const forged = { "x-user": "root", x_user: "root", "X-Claims": "forged" };
    for (let times = 0; times < 2; times++) {
      expect((await send({ ...bearer(token), ...forged })).statusCode).to.equal(200);
      const { headers } = seen[times] as IncomingMessage;
      expect(headers).to.include({ "x-user": "alice", "x-claims": token.split(".")[1] });
      expect(headers).not.to.have.any.keys("x_user", "authorization");
    }
  });

  it("auth-jwt: a client's own identity header is removed even if the token has no such claim", async () => {
    expect(
      (await send({ ...bearer(await signToken(key, { sub: undefined as never })), "x-user": "root" }))
        .statusCode,
    ).to.equal(200);
    expect(seen[0]?.headers).not.to.have.property("x-user");
  });

  it("auth-jwt: identity headers in a client's trailers are removed", async () => {
    const token = await signToken(key, { sub: undefined as never });
    const options = { host: "127.0.0.1", port: gateway.port, agent: false, method: "POST" };
    const sent = request({ ...options, headers: { host: "a.example", trailer: "x", ...bearer(token) } });
    sent.addTrailers({ "X-User": "root", x_user: "root", "X-Claims": "forged", "X-Sum": "1" });
    sent.end("body");
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    await once(message.resume(), "end");
    expect(message.statusCode).to.equal(200);
    seen[0]?.resume();
    if (seen[0]?.complete === false) await once(seen[0], "end");
    expect(seen[0]?.trailers).to.deep.equal({ "x-sum": "1" });
  });

  it("auth-jwt: other requests get 401 with a challenge that says why, and no upstream is contacted", async () => {
    const token = await signToken(key);
    const other = await signToken(makeKey("EC", "ES256", "one"));
    const invalid = (code: string, description: string): string =>
      `Bearer error="${code}", error_description="${description}"`;
    const cases: readonly (readonly [Record<string, string | string[]>, string])[] = [
      [{}, "Bearer"],
      [{ authorization: `Basic ${token}` }, "Bearer"],
      [bearer(other), invalid("invalid_token", "token signature invalid")],
      [bearer("a.b"), invalid("invalid_token", "token malformed")],
      [bearer(await signToken(key, { exp: 1 })), invalid("invalid_token", "token expired")],
      [
        { authorization: [`Bearer ${token}`, `Bearer ${token}`] },
        invalid("invalid_request", "token header malformed"),
      ],
    ];
    for (const [headers, challenge] of cases) {
      const message = await send(headers);
      expect([message.statusCode, message.headers["www-authenticate"]]).to.deep.equal([401, challenge]);
    }
    expect(seen).to.deep.equal([]);
  });

  it("auth-jwt: the token is read from the first of the configured headers that the request has", async () => {
    const fromHeaders = [
      { name: "X-Token", prefix: "" },
      { name: "Authorization", prefix: "Bearer " },
    ];
    gateway.update({ ports, ...plan({ fromHeaders, forward: true }, key) });
    const token = await signToken(key);
    expect((await send({ "x-token": token })).statusCode).to.equal(200);
    expect(seen[0]?.headers["x-token"]).to.equal(token);
    expect((await send(bearer(token))).statusCode).to.equal(200);
    expect((await send({ "x-token": "bad", ...bearer(token) })).statusCode).to.equal(401);
  });

  it("auth-jwt: a rotation of keys holds at once, also for tokens that were accepted before", async () => {
    const token = await signToken(key);
    expect((await send(bearer(token))).statusCode).to.equal(200);
    const next = makeKey("EC", "ES256", "two");
    gateway.update({ ports, ...plan({}, key, next) });
    expect((await send(bearer(token))).statusCode).to.equal(200);
    expect((await send(bearer(await signToken(next)))).statusCode).to.equal(200);
    gateway.update({ ports, ...plan({}, next) });
    expect((await send(bearer(token))).statusCode).to.equal(401);
  });

  it("auth-jwt: requests get 503 without keys, or without rules", async () => {
    const token = await signToken(key);
    gateway.update({ ports, ...plan({}, key), resources: [] });
    expect((await send(bearer(token))).statusCode).to.equal(503);
    gateway.update({ ports, features: { "auth-jwt": [{}] } });
    expect((await send(bearer(token))).statusCode).to.equal(503);
    expect(seen).to.deep.equal([]);
  });

  describe("with a tenant whose keys are expensive to check", () => {
    const random = (bytes: number): Buffer => {
      const value = randomBytes(bytes);
      value[0] = 0xff;
      value[bytes - 1] = 0xff;
      return value;
    };
    /** The largest that are used; the private keys exist nowhere. */
    const expensive = Array.from({ length: 3 }, (_, index) => ({
      kty: "RSA" as const,
      alg: "RS256",
      kid: `k${index}`,
      n: random(1_024).toString("base64url"),
      e: random(4).toString("base64url"),
    }));
    const forged = (): string => {
      const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
      const claims = { iss: "https://id.example", aud: "shop", exp: Math.floor(Date.now() / 1000) + 600 };
      const signature = Buffer.concat([Buffer.from([1]), randomBytes(1_023)]);
      return `${text({ alg: "RS256" })}.${text(claims)}.${signature.toString("base64url")}`;
    };

    /** Holds the checks of a namespace. Each check of another one lets two of them continue, `release` all of them. */
    function holdTurnsOf(namespace: string): { release(): void } {
      const held: (() => void)[] = [];
      let allowed = 0;
      const allow = (more: number): void => {
        allowed += more;
        for (; allowed > 0 && held.length > 0; allowed--) held.shift()?.();
      };
      const { run } = FairTurns.prototype;
      FairTurns.prototype.run = function <T>(
        this: FairTurns,
        owner: string,
        isWanted: () => boolean,
        work: () => Promise<T>,
      ): Promise<T | "busy"> {
        if (owner !== namespace) {
          const result = run.call(this, owner, isWanted, work) as Promise<T | "busy">;
          allow(2);
          return result;
        }
        return run.call(this, owner, isWanted, async () => {
          if (allowed > 0) allowed--;
          else await new Promise<void>((resolve) => held.push(resolve));
          return work();
        }) as Promise<T | "busy">;
      };
      stop.push(() => void (FairTurns.prototype.run = run));
      return { release: () => allow(Number.POSITIVE_INFINITY) };
    }

    it("auth-jwt: a flood of one namespace gets 503 beyond its places while tokens of other namespaces are checked", async () => {
      const evil = { ...rules, keySet: "evil/id" };
      const table: Route = {
        id: "ingress/evil/web:0.0",
        source: { kind: "Ingress", namespace: "evil", name: "web" },
        match: { path: { type: "prefix", value: "/" } },
        features: { "auth-jwt": [{ rules: evil }] },
        backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }],
      };
      const { features, resources = [] } = plan({}, key);
      gateway.update({
        ports,
        ...(features && { features }),
        resources: [
          ...resources,
          encodeResource<"jwks">(jwksKey("evil/id"), { keys: expensive }),
          encodeResource<"route">(routeKey("ingress", 80, { kind: "exact", host: "evil.example" }), {
            listener: "ingress",
            inherit: false,
            routes: [table],
          }),
        ],
      });
      const turns = holdTurnsOf("evil");
      const flood = Array.from({ length: 700 }, () =>
        send({ host: "evil.example", ...bearer(forged()) }).then(({ statusCode }) => statusCode),
      );
      let ended = 0;
      for (const one of flood) void one.then(() => ended++);
      // Two are under way and 512 wait; the rest has no place.
      await eventually(() => ended === 700 - 514);
      for (let index = 0; index < 5; index++) {
        const { statusCode } = await send(bearer(await signToken(key, { jti: String(index) })));
        expect(statusCode).to.equal(200);
      }
      expect(ended).to.be.lessThan(700, "the others were not waited for");
      turns.release();
      const answers = await Promise.all(flood);
      expect(new Set(answers)).to.deep.equal(new Set([401, 503]));
      const refused = answers.filter((status) => status === 503).length;
      expect(gateway.metrics.limitsReached.with({ limit: "auth-tokens" }).value).to.equal(refused);
    });
  });

  it("auth-jwt: a token that arrives many times at once is checked once", async () => {
    const token = await signToken(key);
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(bearer(token))));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).to.deep.equal(new Set([200]));
  });

  describe("with several on one route", () => {
    const other = makeKey("OKP", "EdDSA", "two");
    const audience: TokenRules = {
      ...rules,
      audiences: ["office"],
      claimToHeaders: [{ claim: "email", header: "X-Mail" }],
      payloadHeader: undefined,
    };
    /** The rules for another issuer. Its token is in a separate header. */
    const device: TokenRules = {
      ...audience,
      keySet: "ns/device",
      issuer: "https://device.example",
      audiences: [],
      fromHeaders: [{ name: "X-Device-Token", prefix: "" }],
      claimToHeaders: [{ claim: "sub", header: "X-Device" }],
    };
    const deviceToken = (claims: Parameters<typeof signToken>[1] = {}): Promise<string> =>
      signToken(other, { iss: "https://device.example", sub: "phone", ...claims });
    const resources = [keySetOf("ns/id", key), keySetOf("ns/device", other)];
    const ask = (...asked: readonly TokenRules[]): void =>
      gateway.update({ ports, features: { "auth-jwt": asked.map((one) => ({ rules: one })) }, resources });

    it("auth-jwt: each of several rules gets its token, and the upstream gets the claims of all", async () => {
      ask(rules, device);
      const [token, second] = [await signToken(key), await deviceToken()];
      const forged = { "x-user": "root", x_device: "root", "X-Device": "root", "x-claims": "forged" };
      // The second time both tokens are known.
      for (let times = 0; times < 2; times++) {
        const message = await send({ ...bearer(token), "x-device-token": second, ...forged });
        expect(message.statusCode).to.equal(200);
        const { headers } = seen[times] as IncomingMessage;
        expect(headers).to.include({
          "x-user": "alice",
          "x-claims": token.split(".")[1],
          "x-device": "phone",
        });
        expect(headers).not.to.have.any.keys("x_device", "authorization", "x-device-token");
      }
    });

    it("auth-jwt: tokens that are valid for some of several rules only are refused, in any order of the rules", async () => {
      const [token, second] = [await signToken(key), await deviceToken()];
      for (const asked of [
        [rules, device],
        [device, rules],
      ]) {
        ask(...asked);
        for (const headers of [
          bearer(token),
          { "x-device-token": second },
          { ...bearer(token), "x-device-token": token },
          { ...bearer(second), "x-device-token": second },
          { ...bearer(token), "x-device-token": await deviceToken({ exp: 1 }) },
        ]) {
          const message = await send(headers);
          expect(message.statusCode).to.equal(401);
          expect(message.headers["www-authenticate"]).to.match(/^Bearer($| error="invalid_token", )/);
        }
      }
      expect(seen).to.deep.equal([]);
    });

    it("auth-jwt: one token is checked by several rules, and forwarded only if all of them forward it", async () => {
      ask(rules, audience);
      const both = await signToken(key, { aud: ["shop", "office"], email: "a@x.example" });
      expect((await send(bearer(both))).statusCode).to.equal(200);
      expect(seen[0]?.headers).to.include({ "x-user": "alice", "x-mail": "a@x.example" });
      expect(seen[0]?.headers).not.to.have.property("authorization");
      expect((await send(bearer(await signToken(key, { aud: "shop" })))).statusCode).to.equal(401);
      expect((await send(bearer(await signToken(key, { aud: "office" })))).statusCode).to.equal(401);
      ask({ ...rules, forward: true }, audience);
      expect((await send(bearer(both))).statusCode).to.equal(200);
      ask({ ...rules, forward: true }, { ...audience, forward: true });
      expect((await send(bearer(both))).statusCode).to.equal(200);
      expect(seen.map(({ headers }) => headers.authorization)).to.deep.equal([
        undefined,
        undefined,
        `Bearer ${both}`,
      ]);
    });

    it("auth-jwt: the later of two rules sets a header that both have, and tokens are read as the client sent them", async () => {
      const user = { claimToHeaders: [{ claim: "sub", header: "X-User" }] };
      ask(rules, { ...device, ...user, fromHeaders: [{ name: "X-User", prefix: "" }] });
      expect(
        (await send({ ...bearer(await signToken(key)), "x-user": await deviceToken() })).statusCode,
      ).to.equal(200);
      expect(seen[0]?.headers["x-user"]).to.equal("phone");
    });

    it("auth-jwt: requests get 503 if a rule is missing, and the answer of the first failing rule if a key set is missing", async () => {
      const token = await signToken(key);
      for (const asked of [
        [{ rules }, {}],
        [{}, { rules }],
      ]) {
        gateway.update({ ports, features: { "auth-jwt": asked }, resources });
        expect((await send(bearer(token))).statusCode).to.equal(503);
        expect((await send({})).statusCode).to.equal(503);
      }
      ask(rules, { ...device, keySet: "ns/none" });
      expect((await send(bearer(token))).statusCode).to.equal(503);
      expect((await send({})).statusCode).to.equal(401);
      expect(seen).to.deep.equal([]);
    });
  });
});
