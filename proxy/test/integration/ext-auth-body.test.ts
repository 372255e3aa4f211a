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

  it("shows the body to the service and sends it upstream", async () => {
    await start();
    expect((await guarded.send({ body: "0123456789" })).statusCode).to.equal(200);
    expect(asked.map(({ text, headers }) => [text, headers["content-length"]])).to.deep.equal([
      ["0123456789", "10"],
    ]);
    expect(guarded.seen.map(({ text }) => text)).to.deep.equal(["0123456789"]);
  });

  it("asks with an empty body where the request has none", async () => {
    await start();
    expect((await guarded.send({})).statusCode).to.equal(200);
    expect((await guarded.send({ body: "" })).statusCode).to.equal(200);
    expect(asked.map(({ text }) => text)).to.deep.equal(["", ""]);
  });

  it("takes a body without a declared length, with its trailers", async () => {
    await start();
    const reply = await exchange(guarded.gateway.port, chunked("abc", "0\r\nx-sum: 1\r\n\r\n"));
    expect(reply).to.match(/^HTTP\/1.1 200 /);
    expect(asked[0]?.text).to.equal("abc");
    expect([guarded.seen[0]?.text, guarded.seen[0]?.trailers]).to.deep.equal(["abc", { "x-sum": "1" }]);
  });

  it("answers 413 to a longer body, declared or not, and asks nobody", async () => {
    await start();
    expect((await guarded.send({ body: "0123456789a" })).statusCode).to.equal(413);
    expect(await exchange(guarded.gateway.port, chunked("0123456789a"))).to.match(/^HTTP\/1.1 413 /);
    expect([asked.length, guarded.seen.length]).to.deep.equal([0, 0]);
  });

  it("answers 413 to a longer body on HTTP/2, where other requests of the connection go on", async () => {
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

  it("holds the smaller of its limit and that of max-body-size", async () => {
    await start({}, { "max-body-size": { maxBytes: 4 } });
    expect(await exchange(guarded.gateway.port, chunked("01234"))).to.match(/^HTTP\/1.1 413 /);
    expect((await guarded.send({ body: "0123" })).statusCode).to.equal(200);
  });

  it("asks a client that waits for a 100 to go on, and the upstream is not asked again", async () => {
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

  it("sends the body again where the route retries", async () => {
    await start({}, { retry: { attempts: 2, codes: [503] } });
    guarded.upstream = (_, response) => {
      response.statusCode = guarded.seen.length < 3 ? 503 : 200;
      response.end();
    };
    expect((await guarded.send({ body: "again" })).statusCode).to.equal(200);
    expect(guarded.seen.map(({ text }) => text)).to.deep.equal(["again", "again", "again"]);
    expect(asked).to.have.lengthOf(1);
  });

  it("reads the body once for several services, each with its own limit", async () => {
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

  it("answers 400 to a body that is none, and asks nobody", async () => {
    await start();
    expect(await exchange(guarded.gateway.port, chunked("abc", "nonsense\r\n"))).to.match(/^HTTP\/1.1 400 /);
    expect(asked).to.deep.equal([]);
  });

  it("answers 408 to a client that does not go on sending", async () => {
    await start({}, {}, ["--proxy-client-body-timeout=50ms"]);
    const head = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\na";
    expect(await exchange(guarded.gateway.port, head)).to.match(/^HTTP\/1.1 408 /);
    expect(asked).to.deep.equal([]);
  });

  it("forgets the body of a client that leaves", async () => {
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

  it("shows a service over gRPC text as text and other bytes as bytes", async () => {
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
