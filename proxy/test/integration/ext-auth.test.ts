import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { eventually, startGateway, startTcp, type Gateway } from "./gateway.ts";

const check: ExternalCheck = {
  endpoints: "ns/gate/9000",
  protocol: "http1",
  timeoutMs: 30_000,
  failClosed: true,
  allowedHeaders: ["authorization"],
  allowedResponseHeaders: ["x-user"],
};
const gateAt = (...ports: readonly number[]): Resource =>
  encodeResource<"endpoints">(endpointsKey("ns/gate/9000"), {
    service: "ns/gate",
    resolve: "static",
    addresses: ports.map((port) => ({ host: "127.0.0.1", port })),
  });

describe("ext-auth, through the whole data plane", () => {
  let gateway: Gateway;
  let asked: IncomingMessage[];
  let seen: IncomingMessage[];
  let stop: (() => Promise<void> | void)[];

  beforeEach(() => {
    stop = [];
    asked = [];
    seen = [];
  });
  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
  });

  async function listen(server: Server): Promise<number> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stop.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  async function start(
    gate: RequestListener | number | undefined,
    more: Partial<ExternalCheck> = {},
  ): Promise<void> {
    const backend = await listen(
      createServer((message, response) => {
        seen.push(message);
        response.end("upstream");
      }),
    );
    const port =
      typeof gate === "function"
        ? await listen(
            createServer((message, response) => {
              asked.push(message);
              gate(message, response);
            }),
          )
        : gate;
    gateway = await startGateway({
      ports: [backend],
      features: { "ext-auth": { check: { ...check, ...more } } },
      resources: [gateAt(...(port === undefined ? [] : [port]))],
    });
    stop.push(() => gateway.close());
  }

  async function send(
    headers: Record<string, string> = {},
    method = "GET",
  ): Promise<IncomingMessage & { text: string }> {
    const options = { host: "127.0.0.1", port: gateway.port, agent: false, method, path: "/a?b=c" };
    const sent = request({ ...options, headers: { host: "a.example", ...headers } });
    sent.end(method === "POST" ? "body" : undefined);
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of message) text += String(chunk);
    return Object.assign(message, { text });
  }

  it("asks with the request's line, the allowed fields and no body, and tells the upstream the answer", async () => {
    await start((_, response) => response.setHeader("x-user", "alice").setHeader("x-other", "1").end());
    const sent = { authorization: "Bearer t", cookie: "c=1", "x-user": "root", x_user: "root" };
    expect((await send(sent, "POST")).text).to.equal("upstream");
    expect([asked[0]?.method, asked[0]?.url]).to.deep.equal(["POST", "/a?b=c"]);
    expect(asked[0]?.headers).to.include({
      host: "a.example",
      authorization: "Bearer t",
      "x-forwarded-method": "POST",
      "x-forwarded-uri": "/a?b=c",
      "x-forwarded-host": "a.example",
      "x-forwarded-proto": "http",
      "x-forwarded-for": "127.0.0.1",
      "content-length": "0",
    });
    expect(asked[0]?.headers).not.to.have.any.keys("cookie", "x-user");
    expect(seen[0]?.headers).to.include({ "x-user": "alice", cookie: "c=1" });
    expect(seen[0]?.headers).not.to.have.any.keys("x_user", "x-other");
  });

  it("hands a refusal on as it is, and contacts no upstream", async () => {
    await start((_, response) => {
      response.writeHead(418, {
        "content-type": "text/html",
        "set-cookie": ["a=1", "b=2"],
        location: "/login",
      });
      response.end("<h1>no</h1>");
    });
    const message = await send();
    expect([message.statusCode, message.text]).to.deep.equal([418, "<h1>no</h1>"]);
    expect(message.headers).to.deep.include({
      "content-type": "text/html",
      "set-cookie": ["a=1", "b=2"],
      location: "/login",
      "content-length": "11",
    });
    expect(message.headers).not.to.have.property("cache-control");
    expect(seen).to.deep.equal([]);
  });

  it("maps a refusal for gRPC clients", async () => {
    await start((_, response) => void response.writeHead(403).end());
    const { headers } = await send({ "content-type": "application/grpc" });
    expect(headers["grpc-status"]).to.equal("7");
  });

  for (const [failClosed, status] of [
    [true, 503],
    [false, 200],
  ] as const) {
    it(`answers ${status} when the service fails and failClosed is ${failClosed}`, async () => {
      await start((message) => message.socket.destroy(), { failClosed });
      expect((await send({ "x-user": "root" })).statusCode).to.equal(status);
      expect(seen[0]?.headers["x-user"]).to.equal(undefined);
    });

    it(`answers ${status} when the service is too slow and failClosed is ${failClosed}`, async () => {
      await start(() => {}, { failClosed, timeoutMs: 50 });
      expect((await send()).statusCode).to.equal(status);
    });
  }

  it("answers 503 without an endpoint, also when failures open", async () => {
    await start(undefined, { failClosed: false });
    expect((await send()).statusCode).to.equal(503);
    expect(seen).to.deep.equal([]);
  });

  it("takes an answer that is no HTTP, or that tries to split a field, for a failure", async () => {
    for (const answer of [
      "SSH-2.0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-User: a\rInjected: b\r\nContent-Length: 0\r\n\r\n",
    ]) {
      const gate = await startTcp((socket) => void socket.once("data", () => socket.end(answer)));
      await start(gate.port);
      stop.push(() => gate.close());
      expect((await send()).statusCode).to.equal(503);
    }
    expect(seen).to.deep.equal([]);
  });

  it("stops asking when the client leaves", async () => {
    let gone = false;
    await start((message) => void message.socket.on("close", () => (gone = true)));
    const sent = request({
      host: "127.0.0.1",
      port: gateway.port,
      headers: { host: "a.example" },
      agent: false,
    });
    sent.on("error", () => {});
    sent.end();
    await eventually(() => asked.length === 1);
    sent.destroy();
    await eventually(() => gone);
    expect(seen).to.deep.equal([]);
  });
});
