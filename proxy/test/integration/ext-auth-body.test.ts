import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { expect } from "chai";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { startAuthorizationServer, type Message } from "./authorization-server.ts";
import {
  gateAt,
  gateName,
  grpcCheck,
  GuardedGateway,
  httpCheck,
  readText,
  type Seen,
} from "./ext-auth-support.ts";
import { eventually, exchange, type Plan } from "./gateway.ts";

describe("ext-auth with bodies", () => {
  let guarded: GuardedGateway;
  let asked: Seen[];

  beforeEach(() => {
    guarded = new GuardedGateway();
    asked = [];
  });
  afterEach(() => guarded.close());

  async function start(
    more: Partial<ExternalCheck> = {},
    features: Plan["features"] = {},
    flags: readonly string[] = [],
    gate: RequestListener = (_, response) => void response.end(),
  ): Promise<void> {
    const service = createServer(async (message, response) => {
      asked.push(Object.assign(message, { text: await readText(message) }));
      gate(message, response);
    });
    const port = await guarded.listen(service);
    const check = { ...httpCheck, maxBodyBytes: 10, ...more };
    await guarded.start([check], [gateAt(gateName, port)], features, flags);
  }

  const chunked = (body: string, end = "0\r\n\r\n"): string =>
    "POST / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" +
    `${body.length.toString(16)}\r\n${body}\r\n${end}`;

  it("ext-auth: the body goes to the service and to the upstream", async () => {
    await start();
    expect((await guarded.send({ body: "0123456789" })).statusCode).to.equal(200);
    expect(asked.map(({ text, headers }) => [text, headers["content-length"]])).to.deep.equal([
      ["0123456789", "10"],
    ]);
    expect(guarded.seen.map(({ text }) => text)).to.deep.equal(["0123456789"]);
  });

  it("ext-auth: the service gets an empty body where the request has none", async () => {
    await start();
    expect((await guarded.send({})).statusCode).to.equal(200);
    expect((await guarded.send({ body: "" })).statusCode).to.equal(200);
    expect(asked.map(({ text }) => text)).to.deep.equal(["", ""]);
  });

  it("ext-auth: a body without a declared length is read, and goes upstream with its trailers", async () => {
    await start();
    const reply = await exchange(guarded.gateway.port, chunked("abc", "0\r\nx-sum: 1\r\n\r\n"));
    expect(reply).to.match(/^HTTP\/1.1 200 /);
    expect(asked[0]?.text).to.equal("abc");
    expect([guarded.seen[0]?.text, guarded.seen[0]?.trailers]).to.deep.equal(["abc", { "x-sum": "1" }]);
  });

  it("ext-auth: a body above the limit gets 413, declared or not, and the service is not asked", async () => {
    await start();
    expect((await guarded.send({ body: "0123456789a" })).statusCode).to.equal(413);
    expect(await exchange(guarded.gateway.port, chunked("0123456789a"))).to.match(/^HTTP\/1.1 413 /);
    expect([asked.length, guarded.seen.length]).to.deep.equal([0, 0]);
  });

  it("ext-auth: a body above the limit gets 413 on HTTP/2, and other requests of the connection are served", async () => {
    await start();
    const session = connectHttp2(`http://127.0.0.1:${guarded.gateway.port}`);
    guarded.onClose(() => session.destroy());
    const ask = async (body: string): Promise<number> => {
      const stream = session.request({ ":method": "POST", ":authority": "a.example" });
      stream.on("error", () => {});
      stream.end(body);
      const [head] = (await once(stream, "response")) as [{ readonly ":status": number }];
      stream.resume();
      return head[":status"];
    };
    expect([await ask("0123456789a"), await ask("0123456789")]).to.deep.equal([413, 200]);
  });

  it("ext-auth: the smaller of its limit and that of max-body-size holds", async () => {
    await start({}, { "max-body-size": { maxBytes: 4 } });
    expect(await exchange(guarded.gateway.port, chunked("01234"))).to.match(/^HTTP\/1.1 413 /);
    expect((await guarded.send({ body: "0123" })).statusCode).to.equal(200);
  });

  it("ext-auth: a client that waits for a 100 gets it from the proxy, and the upstream gets no Expect", async () => {
    await start();
    const head =
      "POST / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    const socket = connect({ host: "127.0.0.1", port: guarded.gateway.port });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.write(head);
    await eventually(() => text.includes("HTTP/1.1 100 Continue\r\n\r\n"));
    socket.write("abc");
    await once(socket, "close");
    expect(text).to.match(/HTTP\/1\.1 200 OK/);
    expect(guarded.seen[0]?.headers).not.to.have.property("expect");
  });

  it("ext-auth: the body is sent again where the route retries", async () => {
    await start({}, { retry: { attempts: 2, codes: [503] } });
    guarded.upstream = (_, response) => {
      response.statusCode = guarded.seen.length < 3 ? 503 : 200;
      response.end();
    };
    expect((await guarded.send({ body: "again" })).statusCode).to.equal(200);
    expect(guarded.seen.map(({ text }) => text)).to.deep.equal(["again", "again", "again"]);
    expect(asked).to.have.lengthOf(1);
  });

  it("ext-auth: the body is read once for several services, each with its own limit", async () => {
    const gate = await guarded.listen(
      createServer(async (message, response) => {
        asked.push(Object.assign(message, { text: await readText(message) }));
        response.end();
      }),
    );
    const checks = [10, 4].map((maxBodyBytes) => ({ ...httpCheck, maxBodyBytes }));
    await guarded.start([httpCheck, ...checks], [gateAt(gateName, gate)]);
    expect((await guarded.send({ body: "0123" })).statusCode).to.equal(200);
    expect(asked.map(({ text }) => text)).to.deep.equal(["", "0123", "0123"]);
    expect((await guarded.send({ body: "01234" })).statusCode).to.equal(413);
    expect(guarded.seen).to.have.lengthOf(1);
  });

  it("ext-auth: a malformed body gets 400, and the service is not asked", async () => {
    await start();
    expect(await exchange(guarded.gateway.port, chunked("abc", "nonsense\r\n"))).to.match(/^HTTP\/1.1 400 /);
    expect(asked).to.deep.equal([]);
  });

  it("ext-auth: a client that stops sending its body gets 408", async () => {
    await start({}, {}, ["--proxy-client-body-timeout=50ms"]);
    const head = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\na";
    expect(await exchange(guarded.gateway.port, head)).to.match(/^HTTP\/1.1 408 /);
    expect(asked).to.deep.equal([]);
  });

  it("ext-auth: the memory of a body is freed when its client leaves", async () => {
    await start({ maxBodyBytes: 65_535 });
    for (let i = 0; i < 3; i++) {
      const socket = connect({ host: "127.0.0.1", port: guarded.gateway.port });
      socket.write("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 60000\r\n\r\nabc");
      await once(socket, "connect");
      socket.destroy();
    }
    await eventually(() => guarded.gateway.records.length === 3);
    expect(guarded.gateway.records.map(({ status }) => status)).to.deep.equal([499, 499, 499]);
    expect((await guarded.send({ body: "a".repeat(65_535) })).statusCode).to.equal(200);
    expect(guarded.seen[0]?.text.length).to.equal(65_535);
  });

  it("ext-auth: a gRPC service gets UTF-8 bodies as text and other bodies as bytes", async () => {
    const requests: Message[] = [];
    const server = await startAuthorizationServer((request, answer) => {
      requests.push(((request.attributes as Message).request as Message).http as Message);
      answer(null, { status: { code: 0 } });
    });
    guarded.onClose(() => server.close());
    await guarded.start([{ ...grpcCheck, maxBodyBytes: 65_535 }], [gateAt(gateName, server.port)]);
    await guarded.send({ body: "grüße" });
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00]), randomBytes(60_000)]);
    await guarded.send({ body: bytes });
    expect(requests[0]).to.deep.include({ body: "grüße", size: 7 });
    expect(requests[0]?.raw_body).to.have.lengthOf(0);
    expect(requests[1]).to.include({ body: "" });
    expect(bytes.equals(requests[1]?.raw_body as Buffer)).to.equal(true);
  });
});
