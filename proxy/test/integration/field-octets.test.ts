import { once } from "node:events";
import {
  connect as connectHttp2,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
} from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { exchange, startGateway, startTcp, type Gateway } from "./gateway.ts";

/** Every octet that RFC 9110 5.5 calls obs-text: those of Latin-1, of UTF-8, and of neither. */
const octets = Array.from({ length: 128 }, (_, index) => String.fromCharCode(128 + index)).join("");
const host = "a.example";

/** How a backend sends its field, by path; `apart` and `held`: the body comes later than the head. */
const ways = ["together", "apart", "held", "empty", "big", "interim", "trailer"] as const;
type Way = (typeof ways)[number];
const large = "x".repeat(200_000);

/** The field that a client gets, and the request that the backend got, as text of one character per octet. */
type Outcome = { readonly status: number; readonly field: string | undefined; readonly request: string };

type Backend = { readonly port: number; readonly requests: string[]; close(): unknown };

async function startHttp1(): Promise<Backend> {
  const requests: string[] = [];
  const server = await startTcp((socket) => {
    let text = "";
    socket.on("data", async (piece: Buffer) => {
      text += piece.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      requests.push(text);
      const way = text.split(" ")[1]?.slice(1) as Way | "upgrade";
      text = "";
      const send = (answer: string): void => void socket.write(answer, "latin1");
      const ok = `HTTP/1.1 200 OK\r\nX-O: ${octets}\r\n`;
      if (way === "together") send(`${ok}Content-Length: 2\r\n\r\nok`);
      if (way === "apart" || way === "held") {
        send(`${ok}${way === "held" ? "Transfer-Encoding: chunked" : "Content-Length: 2"}\r\n\r\n`);
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
        send(way === "held" ? "2\r\nok\r\n0\r\n\r\n" : "ok");
      }
      if (way === "empty") send(`HTTP/1.1 204 x\r\nX-O: ${octets}\r\n\r\n`);
      if (way === "big") send(`${ok}Content-Length: ${large.length}\r\n\r\n${large}`);
      if (way === "interim") {
        send(`HTTP/1.1 103 x\r\nX-O: ${octets}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`);
      }
      if (way === "trailer") {
        send(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-O: ${octets}\r\n\r\n`);
      }
      if (way === "upgrade") {
        send(`HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nX-O: ${octets}\r\n\r\n`);
        socket.end();
      }
    });
  });
  return { port: server.port, requests, close: () => server.close() };
}

async function startHttp2(): Promise<Backend> {
  const requests: string[] = [];
  const sessions: ServerHttp2Session[] = [];
  const server = createServer();
  server.on("session", (session) => void sessions.push(session));
  server.on("stream", async (stream, headers, _flags, raw) => {
    requests.push((raw as string[]).join("\n"));
    stream.on("error", () => {});
    const way = headers[":path"]?.slice(1) as Way;
    const field = { "x-o": octets };
    if (way === "interim") stream.additionalHeaders({ ":status": 103, ...field });
    if (way === "interim") return stream.respond({ ":status": 200 }, { endStream: true });
    if (way === "empty") return stream.respond({ ":status": 204, ...field }, { endStream: true });
    if (way === "trailer") {
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(field));
    } else stream.respond({ ":status": 200, ...field });
    if (way === "apart" || way === "held") {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    return void stream.end(way === "big" ? large : "ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

const fieldIn = (text: string): string | undefined => /^x-o: (.*)\r$/im.exec(text)?.[1];

async function askHttp1(gateway: Gateway, path: string, backend: Backend): Promise<Outcome> {
  const upgrade =
    path === "upgrade"
      ? "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      : "Connection: close\r\n";
  const answer = await exchange(
    gateway.port,
    `GET /${path} HTTP/1.1\r\nHost: ${host}\r\nX-R: ${octets}\r\nProxy: http://evil.example\r\nTE: trailers\r\n${upgrade}\r\n`,
  );
  return {
    status: Number(answer.slice(9, 12)),
    field: fieldIn(answer),
    request: backend.requests.at(-1) ?? "",
  };
}

async function askHttp2(gateway: Gateway, path: string, backend: Backend): Promise<Outcome> {
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  session.on("error", () => {});
  const stream = session.request({
    ":path": `/${path}`,
    ":authority": host,
    "x-r": octets,
    proxy: "http://evil.example",
  });
  let status = 0;
  let field: string | undefined;
  const look = (headers: IncomingHttpHeaders): void => {
    if (headers["x-o"] !== undefined) field = String(headers["x-o"]);
  };
  stream
    .on("headers", look)
    .on("trailers", look)
    .on("error", () => {});
  stream.on("response", (headers) => {
    status = Number(headers[":status"]);
    look(headers);
  });
  stream.resume();
  await once(stream, "close");
  session.destroy();
  return { status, field, request: backend.requests.at(-1) ?? "" };
}

describeCodecs("octets of fields, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  const start = async (protocol: "http1" | "http2"): Promise<{ gateway: Gateway; backend: Backend }> => {
    const backend = await (protocol === "http1" ? startHttp1() : startHttp2());
    closing.push(backend);
    const gateway = await startGateway({ ports: [backend.port], protocol });
    closing.push(gateway);
    return { gateway, backend };
  };

  for (const protocol of ["http1", "http2"] as const) {
    for (const [version, ask] of [
      ["HTTP/1", askHttp1],
      ["HTTP/2", askHttp2],
    ] as const) {
      it(`octets above ASCII pass unchanged between ${protocol} backends and ${version} clients, in both directions`, async () => {
        const { gateway, backend } = await start(protocol);
        for (const way of ways) {
          const outcome = await ask(gateway, way, backend);
          // An interim head is the first that an HTTP/1 client reads.
          const status = way === "empty" ? 204 : way === "interim" && version === "HTTP/1" ? 103 : 200;
          expect([outcome.status, outcome.field], way).to.deep.equal([status, octets]);
          expect(outcome.request, way).to.contain(octets);
        }
      });

      it(`the field Proxy of ${version} clients does not reach ${protocol} backends`, async () => {
        const { gateway, backend } = await start(protocol);
        const { request, status } = await ask(gateway, "together", backend);
        expect(status).to.equal(200);
        expect(request).not.to.match(/^proxy$|^proxy:/im);
        expect(request).not.to.contain("evil.example");
      });
    }
  }

  it("octets above ASCII pass unchanged in a response that switches to a WebSocket", async () => {
    const { gateway, backend } = await start("http1");
    const outcome = await askHttp1(gateway, "upgrade", backend);
    expect([outcome.status, outcome.field]).to.deep.equal([101, octets]);
  });

  /** All that a field value must not hold (RFC 9110 5.5); LF and CR end lines, and are tried by themselves. */
  const forbidden = [...Array.from({ length: 32 }, (_, code) => code), 127].filter((code) => code !== 9);

  it("a request with a control character in a field value gets 400", async () => {
    const { gateway, backend } = await start("http1");
    for (const code of forbidden) {
      const value = `a${String.fromCharCode(code)}b`;
      const answer = await exchange(
        gateway.port,
        `GET /together HTTP/1.1\r\nHost: ${host}\r\nX-R: ${value}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.slice(0, 12), `octet ${code}`).to.equal("HTTP/1.1 400");
    }
    expect(backend.requests).to.have.length(0);
  });

  it("a response with a control character in a field value is answered 502", async () => {
    let value = "";
    const server = await startTcp((socket) => {
      socket.on("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\nX-O: ${value}\r\nContent-Length: 2\r\n\r\nok`, "latin1");
      });
    });
    closing.push(server);
    const gateway = await startGateway({ ports: [server.port] });
    closing.push(gateway);
    for (const code of forbidden) {
      value = `a${String.fromCharCode(code)}b`;
      const answer = await exchange(
        gateway.port,
        `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.slice(0, 12), `octet ${code}`).to.equal("HTTP/1.1 502");
    }
  });

  it("a request with a control character in a trailer gets 400", async () => {
    const { gateway } = await start("http1");
    for (const code of [0, 1, 11, 127]) {
      const socket = connect({ host: "127.0.0.1", port: gateway.port });
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      socket.write(
        `POST /never HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX: a${String.fromCharCode(code)}\r\n\r\n`,
        "latin1",
      );
      await once(socket, "close");
      expect(text.slice(0, 12), `octet ${code}`).to.equal("HTTP/1.1 400");
    }
  });
});
