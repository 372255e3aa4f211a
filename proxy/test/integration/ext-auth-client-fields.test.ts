import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect } from "node:http2";
import { expect } from "chai";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { startAuthorizationServer, type Message } from "./authorization-server.ts";
import { gateAt, gateName, grpcCheck, GuardedGateway, httpCheck } from "./ext-auth-support.ts";
import { exchange, startTcp, type Plan } from "./gateway.ts";

const renewal = ["session=new; Path=/; HttpOnly", "session_1=part; Path=/; HttpOnly"];
const cookiesOnly: Partial<ExternalCheck> = { clientResponseHeaders: ["set-cookie"] };

/** A service that lets everybody in and renews a session of two cookies, as oauth2-proxy does. */
const renewing: RequestListener = (_, response) =>
  void response
    .setHeader("Set-Cookie", renewal)
    .setHeader("X-Session", "renewed")
    .setHeader("X-User", "alice")
    .end("ignored");

describe("ext-auth, fields of an allowing answer for the client", () => {
  let guarded: GuardedGateway;
  let asked: number;

  beforeEach(() => {
    guarded = new GuardedGateway();
    asked = 0;
  });
  afterEach(() => guarded.close());

  async function gate(name: string, answer: RequestListener) {
    const port = await guarded.listen(
      createServer((message, response) => {
        asked++;
        answer(message, response);
      }),
    );
    return gateAt(name, port);
  }

  const start = async (more: Partial<ExternalCheck> = cookiesOnly, features: Plan["features"] = {}) =>
    guarded.start([{ ...httpCheck, ...more }], [await gate(gateName, renewing)], features);

  it("ext-auth: cookies of the service are added to those of the upstream's response and not sent upstream", async () => {
    await start();
    guarded.upstream = (_, response) => void response.setHeader("set-cookie", ["a=1", "b=2"]).end("upstream");
    const { headers, text } = await guarded.send({});
    expect([text, headers["set-cookie"]]).to.deep.equal(["upstream", ["a=1", "b=2", ...renewal]]);
    expect(headers).not.to.have.any.keys("x-session", "x-user");
    expect(guarded.seen[0]?.headers).to.include({ "x-user": "alice" });
    expect(guarded.seen[0]?.headers).not.to.have.any.keys("set-cookie", "x-session");
  });

  it("ext-auth: the client gets no fields that are not named, and none where the check names none", async () => {
    await start({ clientResponseHeaders: [] });
    expect((await guarded.send({})).headers).not.to.have.any.keys("set-cookie", "x-session");
    guarded.gateway.update({
      ...guarded.gateway.plan,
      features: { "ext-auth": [{ check: httpCheck }] },
    });
    expect((await guarded.send({})).headers).not.to.have.any.keys("set-cookie", "x-session");
  });

  it("ext-auth: other fields of the service replace those of the upstream's response", async () => {
    await start({ clientResponseHeaders: ["x-session", "set-cookie", "x-missing"] });
    guarded.upstream = (_, response) =>
      void response.setHeader("x-session", ["old", "older"]).setHeader("x-missing", "kept").end();
    const { rawHeaders } = await guarded.send({});
    const named = (name: string): string[] =>
      rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === name && index % 2 === 1);
    expect(named("x-session")).to.deep.equal(["renewed"]);
    expect(named("x-missing")).to.deep.equal(["kept"]);
    expect(named("set-cookie")).to.deep.equal(renewal);
  });

  it("ext-auth: fields that frame the response or belong to the connection are dropped even when they are named", async () => {
    const service = await startTcp((socket) => {
      socket.once("data", () =>
        socket.end(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: X-Session\r\nX-Session: a\r\nProxy-X: 1\r\nSet-Cookie: a=1\r\n\r\nno",
        ),
      );
    });
    guarded.onClose(() => service.close());
    const clientResponseHeaders = [
      "content-length",
      "connection",
      "transfer-encoding",
      "proxy-x",
      "set-cookie",
    ];
    await guarded.start([{ ...httpCheck, clientResponseHeaders }], [gateAt(gateName, service.port)]);
    const { headers, text } = await guarded.send({});
    expect([text, headers["set-cookie"]]).to.deep.equal(["upstream", ["a=1"]]);
    expect(headers).not.to.have.any.keys("proxy-x");
  });

  it("ext-auth: the client gets the service's fields with errors of the proxy and with a redirect", async () => {
    await start();
    const failing: RequestListener = (message) => message.socket.destroy();
    guarded.upstream = failing;
    const broken = await guarded.send({});
    expect([broken.statusCode, broken.headers["set-cookie"]]).to.deep.equal([502, renewal]);
    guarded.gateway.update({ ...guarded.gateway.plan, ports: [] });
    const missing = await guarded.send({});
    expect([missing.statusCode, missing.headers["set-cookie"]]).to.deep.equal([503, renewal]);
    const { features, ...plan } = guarded.gateway.plan;
    guarded.gateway.update({
      ...plan,
      features: { ...features, redirect: { statusCode: 302, path: { type: "full", value: "/x" } } },
    });
    const moved = await guarded.send({});
    expect([moved.statusCode, moved.headers["set-cookie"]]).to.deep.equal([302, renewal]);
  });

  it("ext-auth: the client gets the service's fields once with a response that took several attempts", async () => {
    await start(cookiesOnly, { retry: { attempts: 3, codes: [503] } });
    let attempts = 0;
    guarded.upstream = (_, response) => {
      attempts++;
      response.statusCode = attempts < 3 ? 503 : 200;
      response.end();
    };
    const { statusCode, headers } = await guarded.send({});
    expect([statusCode, attempts, asked]).to.deep.equal([200, 3, 1]);
    expect(headers["set-cookie"]).to.deep.equal(renewal);
  });

  it("ext-auth: the client gets the service's fields with the answer to a WebSocket handshake", async () => {
    await start();
    const upstream = await startTcp((socket) => {
      socket.once("data", () =>
        socket.end("HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\ntunnelled"),
      );
    });
    guarded.onClose(() => upstream.close());
    guarded.gateway.update({ ...guarded.gateway.plan, ports: [upstream.port] });
    const answer = await exchange(
      guarded.gateway.port,
      "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    expect(answer).to.match(/^HTTP\/1\.1 101 /);
    expect(answer.match(/^set-cookie: .*$/gim)).to.have.lengthOf(2);
    expect(answer.endsWith("\r\n\r\ntunnelled")).to.equal(true);
  });

  it("ext-auth: the client gets each cookie of the service as a field of its own over HTTP/2", async () => {
    await start();
    const session = connect(`http://127.0.0.1:${guarded.gateway.port}`);
    const stream = session.request({ ":path": "/", ":authority": "a.example" });
    const [headers] = (await once(stream, "response")) as [IncomingMessage["headers"]];
    stream.resume();
    await once(stream, "close");
    session.close();
    expect(headers["set-cookie"]).to.deep.equal(renewal);
  });

  it("ext-auth: the client gets fields of an earlier service with the denial of a later one, and the later one's value of a field", async () => {
    const first = await gate("ns/first/1", renewing);
    const second = await gate("ns/second/1", (message, response) => {
      response.setHeader("Set-Cookie", "second=1").setHeader("X-Session", "second");
      response.statusCode = message.headers["authorization"] === undefined ? 403 : 200;
      response.end("no");
    });
    const check = { ...httpCheck, clientResponseHeaders: ["set-cookie", "x-session"] };
    const checks = ["ns/first/1", "ns/second/1"].map((endpoints) => ({ ...check, endpoints }));
    await guarded.start(checks, [first, second]);
    const refused = await guarded.send({});
    expect([refused.statusCode, refused.text]).to.deep.equal([403, "no"]);
    expect(refused.headers["set-cookie"]).to.deep.equal(["second=1", ...renewal]);
    const passed = await guarded.send({ headers: { authorization: "x" } });
    expect(passed.headers["set-cookie"]).to.deep.equal([...renewal, "second=1"]);
    expect(passed.headers["x-session"]).to.equal("second");
  });

  it("ext-auth: the client gets the fields of a listener's check, also where there is no route", async () => {
    const check = { ...httpCheck, ...cookiesOnly };
    await guarded.start([], [await gate(gateName, renewing)]);
    const host = { kind: "exact", host: "b.example" } as const;
    guarded.gateway.update({
      ...guarded.gateway.plan,
      resources: [
        ...(guarded.gateway.plan.resources ?? []),
        encodeResource<"route">(routeKey("gateway", 80, host), {
          listener: "Gateway/ns/edge/http",
          inherit: true,
          filters: [{ features: { "ext-auth": [{ check }] } }],
          routes: [],
        }),
      ],
    });
    const { statusCode, headers } = await guarded.send({ headers: { host: "b.example" } });
    expect([statusCode, headers["set-cookie"]]).to.deep.equal([404, renewal]);
  });

  it("ext-auth: the client gets no fields of a service that failed open", async () => {
    const service = await startTcp((socket) => {
      socket.once("data", () =>
        socket.end("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 9\r\n\r\nshort"),
      );
    });
    guarded.onClose(() => service.close());
    await guarded.start(
      [{ ...httpCheck, ...cookiesOnly, failClosed: false }],
      [gateAt(gateName, service.port)],
    );
    const { statusCode, headers } = await guarded.send({});
    expect([statusCode, headers["set-cookie"]]).to.deep.equal([200, undefined]);
  });

  it("ext-auth: response headers of the route can remove fields of the service and add others", async () => {
    await start(cookiesOnly, {
      "response-headers": { remove: ["Set-Cookie"], add: [{ name: "X-Own", value: "1" }] },
    });
    const { headers } = await guarded.send({});
    expect(headers).to.include({ "x-own": "1" });
    expect(headers).not.to.have.property("set-cookie");
  });

  it("ext-auth: the client gets response_headers_to_add of a gRPC answer, and never its fields for the upstream", async () => {
    const field = (key: string, value: string): Message => ({ header: { key, value } });
    const server = await startAuthorizationServer((_, answer) =>
      answer(null, {
        status: { code: 0 },
        ok_response: {
          headers: [field("set-cookie", "upstream=1"), field("x-user", "alice")],
          response_headers_to_add: [
            field("Set-Cookie", "a=1"),
            field("set-cookie", "b=2"),
            field("x-other", "1"),
            field("set-cookie", "split=1\r\nX-Evil: 1"),
          ],
        },
      }),
    );
    guarded.onClose(() => server.close());
    await guarded.start([{ ...grpcCheck, ...cookiesOnly }], [gateAt(gateName, server.port)]);
    const { headers } = await guarded.send({});
    expect(headers["set-cookie"]).to.deep.equal(["a=1", "b=2"]);
    expect(headers).not.to.have.any.keys("x-other", "x-evil", "x-user");
    expect(guarded.seen[0]?.headers).to.include({ "x-user": "alice" });
  });
});
