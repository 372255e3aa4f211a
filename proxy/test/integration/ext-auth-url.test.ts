import { expect } from "chai";
import { eventually } from "./gateway.ts";
import { gateAt } from "./ext-auth-support.ts";
import { byUrl, host, template, UrlAuthorization } from "./ext-auth-url-support.ts";

describe("ext-auth by URL, through the whole data plane", () => {
  let world: UrlAuthorization;
  beforeEach(() => (world = new UrlAuthorization()));
  afterEach(() => world.close());

  it("ext-auth by URL: a 2xx of the own host admits, and its fields replace or remove those of the client", async () => {
    await world.startGuarded(byUrl("http://$host/oauth2/auth?x=1"));
    world.answer = (_, response) =>
      void response.writeHead(202, { "X-User": "ann", "X-Other": "no" }).end("secret");
    const spoofed = { "x-user": "root", X_User: "root", authorization: "Bearer mine", "x-mine": "1" };
    const reply = await world.send("/a%20b?c=d", spoofed, { method: "POST", body: "payload" });
    expect([reply.statusCode, reply.text]).to.deep.equal([200, "app"]);
    expect(world.seen[0]?.headers).to.include({ "x-user": "ann", "x-mine": "1" });
    expect(world.seen[0]?.headers).not.to.have.any.keys("authorization", "x-other", "x_user");
    const [question] = world.asked;
    expect(question?.method).to.equal("GET");
    expect(question?.url).to.equal("/oauth2/auth?x=1");
    expect(question?.headers).to.include({
      host: "a.example",
      authorization: "Bearer mine",
      "x-user": "root",
      "x-mine": "1",
      "x-original-url": "http://a.example/a%20b?c=d",
      "x-original-method": "POST",
      "x-real-ip": "127.0.0.1",
    });
    expect(question?.headers).not.to.have.any.keys("content-length", "transfer-encoding", "x-empty");
  });

  it("ext-auth by URL: fields with which a client could name another URL do not reach the service", async () => {
    await world.startGuarded(byUrl("http://$host/oauth2/auth"));
    await world.send("/a", {
      "X-Original-URL": "http://x/",
      "X-Original-URI": "/x",
      X_Original_Method: "PUT",
      "X-Scheme": "x",
    });
    expect(world.asked[0]?.headers["x-original-url"]).to.equal("http://a.example/a");
    expect(world.asked[0]?.headers).not.to.have.any.keys("x-original-uri", "x_original_method", "x-scheme");
  });

  it("ext-auth by URL: a 401 goes to the client with its challenges and without its body", async () => {
    await world.startGuarded(byUrl("http://$host/oauth2/auth"));
    world.answer = (_, response) =>
      void response.writeHead(401, { "WWW-Authenticate": ["Bearer", "Basic"], "X-User": "no" }).end("secret");
    const reply = await world.send();
    expect(reply.statusCode).to.equal(401);
    expect(reply.headers["www-authenticate"]).to.equal("Bearer, Basic");
    expect(reply.headers).not.to.have.property("x-user");
    expect(reply.text).not.to.contain("secret");
    expect(world.seen).to.deep.equal([]);
  });

  it("ext-auth by URL: a 403 refuses, and every other status or a broken answer is 500", async () => {
    await world.startGuarded(byUrl("http://$host/oauth2/auth"));
    for (const [status, expected] of [
      [403, 403],
      [302, 500],
      [404, 500],
      [304, 500],
      [503, 500],
    ] as const) {
      world.answer = (_, response) =>
        void response.writeHead(status, { Location: "http://x/" }).end("secret");
      const reply = await world.send();
      expect(reply.statusCode, String(status)).to.equal(expected);
      expect(reply.headers).not.to.have.property("location");
      expect(reply.text).not.to.contain("secret");
    }
    world.answer = (message) => void message.socket.destroy();
    expect((await world.send()).statusCode).to.equal(500);
    expect(world.seen).to.deep.equal([]);
  });

  it("ext-auth by URL: a 401 becomes a redirect to sign in, with the escaped URL and the cookie of the service", async () => {
    const signIn = template(
      "https://$host/oauth2/start?rd=$pass_access_scheme://$http_host$escaped_request_uri",
    );
    await world.startGuarded(byUrl("http://$host/oauth2/auth", { signIn }));
    world.answer = (_, response) =>
      void response.writeHead(401, { "WWW-Authenticate": "Bearer", "Set-Cookie": ["csrf=1", "b=2"] }).end();
    const reply = await world.send("/a?b=c&d=e%0d%0aX:y");
    expect(reply.statusCode).to.equal(302);
    expect(reply.headers.location).to.equal(
      "https://a.example/oauth2/start?rd=http://a.example%2Fa%3Fb%3Dc%26d%3De%250d%250aX%3Ay",
    );
    expect(reply.headers["set-cookie"]).to.deep.equal(["csrf=1"]);
    expect(reply.headers).not.to.have.property("www-authenticate");
    world.answer = (_, response) => void response.writeHead(403).end();
    expect((await world.send()).statusCode).to.equal(403);
  });

  it("ext-auth by URL: the first cookie of the service is added to a success and not to an error, unless always", async () => {
    for (const [always, onError] of [
      [undefined, ["app=1"]],
      [true, ["app=1", "renewed=1"]],
    ] as const) {
      await world.close();
      await world.startGuarded(byUrl("http://$host/oauth2/auth", always && { alwaysSetsCookie: true }));
      world.answer = (_, response) =>
        void response.writeHead(200, { "Set-Cookie": ["renewed=1", "b=2"] }).end();
      expect((await world.send("/")).headers["set-cookie"]).to.deep.equal(["app=1", "renewed=1"]);
      expect((await world.send("/", { "x-status": "404" })).headers["set-cookie"]).to.deep.equal(onError);
      world.answer = (_, response) => void response.writeHead(401, { "Set-Cookie": "renewed=1" }).end();
      expect((await world.send("/")).headers["set-cookie"]).to.deep.equal(always && ["renewed=1"]);
    }
  });

  it("ext-auth by URL: the method of the check is sent without a body", async () => {
    await world.startGuarded(byUrl("http://$host/oauth2/auth", { method: "POST" }));
    expect((await world.send("/", {}, { method: "PUT", body: "x" })).statusCode).to.equal(200);
    expect(world.asked[0]?.method).to.equal("POST");
    expect(world.asked[0]?.headers["content-length"] ?? "0").to.equal("0");
  });

  it("ext-auth by URL: another host of the gateway is asked as its client would be, with its own features", async () => {
    const denied = { "ip-access-control": { deny: ["127.0.0.0/8"] } };
    await world.start(
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://auth.example/v") }] },
      }),
      host("b.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://shut.example/v") }] },
      }),
      host("auth.example", { path: "/", to: "ns/auth/80" }),
      host("shut.example", { path: "/", to: "ns/auth/80", features: denied }),
    );
    expect((await world.send()).statusCode).to.equal(200);
    expect(world.asked[0]?.headers).to.include({ host: "auth.example", "x-forwarded-host": "auth.example" });
    expect((await world.send("/", { host: "b.example" })).statusCode).to.equal(403);
    expect(world.asked).to.have.lengthOf(1);
  });

  it("ext-auth by URL: an authorization URL on the way of another one is a loop and 500", async () => {
    await world.start(
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://$host/auth") }] },
      }),
    );
    expect((await world.send()).statusCode).to.equal(500);
    expect([world.asked.length, world.seen.length]).to.deep.equal([0, 0]);
    await eventually(() => world.records.length === 2);
    expect(world.records.map(({ error }) => error)).to.include("authorization loop");
  });

  it("ext-auth by URL: a host that the gateway does not serve by its name is 503, even where a catch-all serves everything", async () => {
    const elsewhere = { "ext-auth": [{ url: byUrl("http://169.254.169.254/latest") }] };
    await world.start(
      host("a.example", { path: "/", to: "ns/app/80", features: elsewhere }),
      host("*", { path: "/", to: "ns/auth/80" }),
    );
    expect((await world.send()).statusCode).to.equal(503);
    expect([world.asked.length, world.seen.length]).to.deep.equal([0, 0]);
  });

  it("ext-auth by URL: a request that only a catch-all serves may ask its own host", async () => {
    await world.start(
      host(
        "*",
        {
          path: "/",
          to: "ns/app/80",
          features: { "ext-auth": [{ url: byUrl("http://$host/oauth2/auth") }] },
        },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
    );
    expect((await world.send("/", { host: "any.example" })).statusCode).to.equal(200);
    expect(world.asked).to.have.lengthOf(1);
  });

  it("ext-auth by URL: an https URL is asked where a load balancer ends TLS, and a foreign port is not", async () => {
    await world.start(
      host(
        "a.example",
        {
          path: "/",
          to: "ns/app/80",
          features: { "ext-auth": [{ url: byUrl("https://$host/oauth2/auth") }] },
        },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
      host(
        "b.example",
        {
          path: "/",
          to: "ns/app/80",
          features: { "ext-auth": [{ url: byUrl("http://$host:9000/oauth2/auth") }] },
        },
        { path: "/oauth2", to: "ns/auth/80" },
      ),
    );
    expect((await world.send()).statusCode).to.equal(200);
    expect((await world.send("/", { host: "b.example" })).statusCode).to.equal(503);
    expect(world.asked).to.have.lengthOf(1);
  });

  it("ext-auth by URL: a Service is asked directly, with the host of the URL", async () => {
    const service = { endpoints: "ns/auth/80", protocol: "http1" } as const;
    await world.start(
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: {
          "ext-auth": [{ url: byUrl("http://auth.ns.svc.cluster.local:4180/v?u=$request_uri", { service }) }],
        },
      }),
    );
    expect((await world.send("/x?y=z", { authorization: "a" })).statusCode).to.equal(200);
    expect(world.asked[0]?.url).to.equal("/v?u=/x?y=z");
    expect(world.asked[0]?.headers).to.include({
      host: "auth.ns.svc.cluster.local:4180",
      authorization: "a",
    });
    world.answer = (_, response) => void response.writeHead(401).end();
    expect((await world.send()).statusCode).to.equal(401);
    world.answer = (message) => void message.socket.destroy();
    expect((await world.send()).statusCode).to.equal(500);
  });

  it("ext-auth by URL: a service without endpoints, and an entry of a newer controller, let no request in", async () => {
    const service = { endpoints: "ns/none/80", protocol: "http1" } as const;
    await world.start(
      [gateAt("ns/none/80")],
      host("a.example", {
        path: "/",
        to: "ns/app/80",
        features: { "ext-auth": [{ url: byUrl("http://x/v", { service }) }] },
      }),
      host("b.example", { path: "/", to: "ns/app/80", features: { "ext-auth": [{}] } }),
    );
    expect((await world.send()).statusCode).to.equal(500);
    expect((await world.send("/", { host: "b.example" })).statusCode).to.equal(503);
    expect(world.seen).to.deep.equal([]);
  });

  it("ext-auth by URL: a service that does not answer in time is 500", async () => {
    await world.startGuarded(byUrl("http://$host/oauth2/auth", { timeoutMs: 20 }));
    world.answer = () => {};
    expect((await world.send()).statusCode).to.equal(500);
    expect(world.seen).to.deep.equal([]);
  });
});
