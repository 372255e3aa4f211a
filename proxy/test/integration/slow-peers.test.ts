import { once } from "node:events";
import { createServer as createHttp1Server, request as request1, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { request as secureRequest1 } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually, startGateway, startTcp, type Gateway, type Plan } from "./gateway.ts";

const host = "a.example";
const { chainPem, keyPem } = issueCertificate([host]);

/** A protocol of clients. */
type Kind = { readonly name: string; readonly version: 1 | 2; readonly isSecure: boolean };
const kinds: readonly Kind[] = [
  { name: "HTTP/1", version: 1, isSecure: false },
  { name: "HTTP/1 over TLS", version: 1, isSecure: true },
  { name: "HTTP/2", version: 2, isSecure: false },
  { name: "HTTP/2 over TLS", version: 2, isSecure: true },
];

type Answer = { readonly status: number; readonly body: string; readonly isComplete: boolean };

/** HTTP/2: the preface, empty SETTINGS, and the head of a HEADERS frame of 8 KiB that ends neither its block nor the stream. */
const http2Head = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0x20, 0, 1, 0, 0, 0, 0, 1]),
]);

describeCodecs("slow and unusual peers, through the whole data plane", () => {
  let gateway: Gateway;
  let stop: (() => unknown)[] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  const start = async (ports: readonly number[], flags: readonly string[] = [], plan?: Partial<Plan>) => {
    gateway = await startGateway({ ports, certificate: { chainPem, keyPem }, ...plan }, flags);
    const started = gateway;
    stop.push(() => started.close());
  };

  const open = ({ version, isSecure }: Kind): Socket => {
    const ALPNProtocols = [version === 2 ? "h2" : "http/1.1"];
    const socket = isSecure
      ? connectTls({ port: gateway.tlsPort, servername: host, rejectUnauthorized: false, ALPNProtocols })
      : connect(gateway.port, "127.0.0.1");
    socket.on("error", () => {});
    stop.push(() => socket.destroy());
    return socket;
  };

  /** Begins a POST, whose body the test writes. */
  const post = (
    { version, isSecure }: Kind,
    fields: Readonly<Record<string, string>>,
  ): { readonly body: Writable; readonly answer: Promise<Answer> } => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const collect = (status: number, from: Readable): void => {
      let body = "";
      from.on("data", (piece: Buffer) => (body += piece.toString("latin1")));
      from.on("error", () => resolve({ status, body, isComplete: false }));
      from.on("end", () => resolve({ status, body, isComplete: true }));
      from.on("close", () => resolve({ status, body, isComplete: false }));
    };
    if (version === 1) {
      const options = { method: "POST", agent: false, headers: { host, ...fields } };
      const sent = isSecure
        ? secureRequest1({ ...options, port: gateway.tlsPort, servername: host, rejectUnauthorized: false })
        : request1({ ...options, port: gateway.port });
      sent.on("error", () => resolve({ status: 0, body: "", isComplete: false }));
      sent.on("response", (response) => collect(response.statusCode ?? 0, response));
      stop.push(() => sent.destroy());
      sent.flushHeaders();
      return { body: sent, answer: promise };
    }
    const session = isSecure
      ? connectHttp2(`https://127.0.0.1:${gateway.tlsPort}`, { servername: host, rejectUnauthorized: false })
      : connectHttp2(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => {});
    stop.push(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":authority": host, ":path": "/", ...fields });
    stream.on("error", () => resolve({ status: 0, body: "", isComplete: false }));
    stream.on("response", (headers) => collect(Number(headers[":status"]), stream));
    return { body: stream, answer: promise };
  };

  /** A backend of either version that calls `answer` once for each request, with and without an expectation. */
  const backend = async (
    version: 1 | 2,
    answer: (request: Readable, response: { end(text?: string): unknown }) => void,
  ): Promise<number> => {
    const server = version === 1 ? createHttp1Server() : createHttp2Server();
    server.on("request", answer);
    server.on("checkContinue", answer);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stop.push(() => server.close());
    return (server.address() as AddressInfo).port;
  };

  for (const kind of kinds) {
    it(`a client that sends its head a byte at a time is refused when its time is over: ${kind.name}`, async () => {
      let requests = 0;
      await start([await backend(1, () => requests++)], ["--proxy-client-header-timeout=300ms"]);
      const socket = open(kind);
      let text = "";
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      const closed = once(socket, "close");
      socket.write(kind.version === 2 ? http2Head : `GET / HTTP/1.1\r\nHost: ${host}\r\nX-Long: `);
      const drip = setInterval(() => socket.write("a"), 20);
      socket.on("end", () => socket.end());
      await closed;
      clearInterval(drip);
      if (kind.version === 1) expect(text).to.match(/^HTTP\/1\.1 408 /);
      expect(requests).to.equal(0);
    });

    it(`a client that stops in its body gets 408, and its backend no end of it: ${kind.name}`, async () => {
      const ends: string[] = [];
      const port = await backend(1, (request) => {
        request.resume();
        request.on("end", () => ends.push("end"));
        request.on("error", () => ends.push("error"));
      });
      await start([port], ["--proxy-client-body-timeout=300ms"]);
      const { body, answer } = post(kind, { "content-length": "100" });
      body.write("0123456789");
      expect((await answer).status).to.equal(408);
      await eventually(() => ends.length > 0);
      expect(ends).to.deep.equal(["error"]);
    });

    for (const version of [1, 2] as const) {
      it(`a backend of HTTP/${version} that answers before the request has ended is heard to its end: ${kind.name}`, async () => {
        const port = await backend(version, (_, response) => void response.end("early"));
        await start([port], [], { protocol: `http${version}` });
        const { body, answer } = post(kind, { "content-length": "1000000" });
        body.on("error", () => {});
        body.write("0123456789");
        expect(await answer).to.deep.equal({ status: 200, body: "early", isComplete: true });
      });
    }

    // Each takes a second: the versions of backends are divided among clients with and without TLS.
    for (const version of kind.isSecure ? [2 as const] : [1 as const]) {
      it(`a backend of HTTP/${version} that never sends the 100 that a client expects gets the body all the same: ${kind.name}`, async () => {
        const port = await backend(version, (request, response) => {
          let text = "";
          request.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
          request.on("end", () => response.end(text));
        });
        await start([port], [], { protocol: `http${version}` });
        const { body, answer } = post(kind, { "content-length": "5", expect: "100-continue" });
        body.end("hello");
        expect(await answer).to.deep.equal({ status: 200, body: "hello", isComplete: true });
      });
    }

    for (const [name, text, status] of [
      ["floods its client with interim responses", "HTTP/1.1 102 x\r\n\r\n".repeat(1_000), 502],
      [
        "switches protocols without being asked",
        "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
        502,
      ],
      ["sends more than its Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngoodevil", 200],
    ] as const) {
      it(`a backend that ${name} harms neither its client nor the next one: ${kind.name}`, async () => {
        let connections = 0;
        const { port, close } = await startTcp((socket) => {
          const isFirst = connections++ === 0;
          socket.on("data", () => {
            socket.write(isFirst ? text : "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood");
          });
        });
        stop.push(close);
        await start([port]);
        const ask = (): Promise<Answer> => {
          const { body, answer } = post(kind, { "content-length": "0" });
          body.end();
          return answer;
        };
        const first = await ask();
        expect([first.status, first.body.includes("evil")]).to.deep.equal([status, false]);
        expect(await ask()).to.deep.equal({ status: 200, body: "good", isComplete: true });
        expect(connections).to.equal(2);
      });
    }
  }

  for (const kind of kinds.filter(({ version }) => version === 1)) {
    it(`the next request of a pipeline waits for the response to the one before it: ${kind.name}`, async () => {
      const waiting: { readonly path: string; readonly response: ServerResponse }[] = [];
      const server = createHttp1Server(({ url = "" }, response) => waiting.push({ path: url, response }));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      stop.push(() => server.close());
      await start([(server.address() as AddressInfo).port]);
      const socket = open(kind);
      let text = "";
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      socket.write(`GET /1 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await eventually(() => waiting.length === 1);
      socket.write(`GET /2 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      // Another client is served meanwhile, so that the second request has certainly arrived.
      const other = open(kind);
      other.write(`GET /other HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await eventually(() => waiting.length === 2);
      expect(waiting.map(({ path }) => path)).to.deep.equal(["/1", "/other"]);
      waiting[0]?.response.end("first");
      await eventually(() => waiting.length === 3);
      expect([waiting[2]?.path, text.endsWith("first")]).to.deep.equal(["/2", true]);
      waiting[2]?.response.end("second");
      await eventually(() => text.endsWith("second"));
    });
  }
});
