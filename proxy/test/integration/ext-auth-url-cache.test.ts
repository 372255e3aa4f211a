import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { expect } from "chai";
import { byUrl, template, UrlAuthorization } from "./ext-auth-url-support.ts";

describe("ext-auth by URL: the cache, through the whole data plane", () => {
  let world: UrlAuthorization;
  beforeEach(() => (world = new UrlAuthorization()));
  afterEach(() => world.close());

  const cached = (
    key: string,
    times: NonNullable<UrlCheck["cache"]>["times"] = [{ ms: 600_000 }],
  ): UrlCheck => byUrl("http://$host/oauth2/auth", { cache: { key: template(key), times } });

  it("ext-auth by URL: answers are remembered by the key, with the fields for the upstream", async () => {
    await world.startGuarded(cached("$cookie_session"));
    world.answer = (message, response) =>
      void response
        .writeHead(message.headers.cookie?.includes("good") === true ? 200 : 401, { "X-User": "ann" })
        .end();
    for (let times = 0; times < 2; times++) {
      expect((await world.send("/", { cookie: "session=good" })).statusCode).to.equal(200);
      expect((await world.send("/", { cookie: "session=bad" })).statusCode).to.equal(401);
    }
    expect(world.asked).to.have.lengthOf(2);
    expect(world.seen.map(({ headers }) => headers["x-user"])).to.deep.equal(["ann", "ann"]);
  });

  it("ext-auth by URL: a request without any part of the client in its key is never answered by another's answer", async () => {
    await world.startGuarded(cached("$host$cookie_session"));
    world.answer = (message, response) =>
      void response.writeHead(message.headers["x-token"] === "t" ? 200 : 401).end();
    expect((await world.send("/", { "x-token": "t" })).statusCode).to.equal(200);
    expect((await world.send("/")).statusCode).to.equal(401);
  });

  it("ext-auth by URL: a key with the name of a user keeps its passwords apart", async () => {
    await world.startGuarded(cached("$remote_user"));
    const basic = (text: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(text).toString("base64")}`,
    });
    world.answer = (message, response) =>
      void response
        .writeHead(message.headers.authorization === basic("ann:right")["authorization"] ? 200 : 401)
        .end();
    expect((await world.send("/", basic("ann:right"))).statusCode).to.equal(200);
    expect((await world.send("/", basic("ann:wrong"))).statusCode).to.equal(401);
    expect((await world.send("/", basic("ann:right"))).statusCode).to.equal(200);
    expect(world.asked).to.have.lengthOf(2);
  });

  it("ext-auth by URL: parts of a key do not run into each other", async () => {
    await world.startGuarded(cached("$cookie_a$cookie_b"));
    world.answer = (message, response) =>
      void response.writeHead(message.headers.cookie === "a=xy; b=z" ? 200 : 401).end();
    expect((await world.send("/", { cookie: "a=xy; b=z" })).statusCode).to.equal(200);
    expect((await world.send("/", { cookie: "a=x; b=yz" })).statusCode).to.equal(401);
  });

  for (const [what, headers] of [
    ["a cookie", { "Set-Cookie": "a=b" }],
    ["Vary", { Vary: "Cookie" }],
    ["no-store", { "Cache-Control": "no-store" }],
    ["private", { "Cache-Control": 'private="x", max-age=100' }],
    ["max-age=0", { "Cache-Control": "max-age=0" }],
    ["a date in the past", { Expires: "Thu, 01 Jan 1970 00:00:00 GMT" }],
    ["an invalid date", { Expires: "0" }],
  ] as const) {
    it(`ext-auth by URL: an answer with ${what} is not remembered`, async () => {
      await world.startGuarded(cached("$cookie_s"));
      world.answer = (_, response) => void response.writeHead(200, headers).end();
      for (let times = 0; times < 2; times++) await world.send("/", { cookie: "s=1" });
      expect(world.asked).to.have.lengthOf(2);
    });
  }

  it("ext-auth by URL: only the listed statuses are remembered", async () => {
    await world.startGuarded(cached("$cookie_s", [{ statuses: [200, 202], ms: 600_000 }]));
    for (const status of [401, 403, 500, 200]) {
      world.answer = (_, response) => void response.writeHead(status).end();
      await world.send("/", { cookie: "s=1" });
    }
    expect((await world.send("/", { cookie: "s=1" })).statusCode).to.equal(200);
    expect(world.asked).to.have.lengthOf(4);
  });
});
