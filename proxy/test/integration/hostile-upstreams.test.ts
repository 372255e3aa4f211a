import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { eventually, exchange, startGateway, startTcp, type Gateway, type Plan } from "./gateway.ts";
import { getOverHttp2 } from "./http2-client.ts";

const host = "a.example";
const get = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
const good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";
const ok = "HTTP/1.1 200 OK\r\n";
const chunkedHead = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

describeCodecs("hostile upstreams, through the whole data plane", () => {
  let gateway: Gateway;
  /** The connections of the upstream, in order. */
  let connections: Socket[];
  let stop: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  const start = async (ports: readonly number[], plan: Partial<Plan> = {}): Promise<void> => {
    gateway = await startGateway({ ports, ...plan });
    const started = gateway;
    stop.push(() => started.close());
  };

  /** An upstream that calls `answer` for every request head; `index` counts requests over all connections. */
  const serve = async (
    answer: (socket: Socket, index: number, head: string) => void,
    plan: Partial<Plan> = {},
  ): Promise<void> => {
    connections = [];
    let index = 0;
    const server = await startTcp((socket) => {
      connections.push(socket);
      let text = "";
      socket.on("data", (piece: Buffer) => {
        text += piece.toString("latin1");
        for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
          const head = text.slice(0, end);
          text = text.slice(end + 4);
          answer(socket, index++, head);
        }
      });
    });
    stop.push(() => server.close());
    await start([server.port], plan);
  };

  /** Ends that no client may take for the end of the body: the text, and how the connection ends. */
  const truncations: readonly [name: string, text: string, end: "fin" | "rst"][] = [
    ["a body with a length", `${ok}Content-Length: 10\r\n\r\nhello`, "fin"],
    ["a body with a length, by a reset", `${ok}Content-Length: 10\r\n\r\nhello`, "rst"],
    ["a chunk", `${chunkedHead}a\r\nhello`, "fin"],
    ["a chunked body between chunks", `${chunkedHead}5\r\nhello\r\n`, "fin"],
    ["a chunked body before its last line", `${chunkedHead}5\r\nhello\r\n0\r\n`, "fin"],
    ["a chunked body that turns to nonsense", `${chunkedHead}5\r\nhello\r\nzz\r\n`, "fin"],
    ["a body that ends with the connection, by a reset", `${ok}\r\nhello`, "rst"],
  ];
  for (const [name, text, end] of truncations) {
    it(`the end of ${name} is an error over HTTP/1.1 and over HTTP/2, never an end`, async () => {
      await serve((socket) => {
        socket.write(text, "latin1");
        if (end === "fin") socket.end();
        // Once the client has what came before: a reset takes what is still on its way with it.
        else
          void eventually(() => gateway.records.length > 0 || socket.bytesWritten >= text.length).then(() =>
            setImmediate(() => socket.resetAndDestroy()),
          );
      });
      const answer = await exchange(gateway.port, get);
      // Nothing at all is an error as well.
      const refused = answer === "" || answer.startsWith("HTTP/1.1 502 ");
      const declared = /content-length: (\d+)/i.exec(answer)?.[1];
      const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
      if (!refused && declared !== undefined) expect(body.length).to.be.below(Number(declared));
      else if (!refused) {
        expect(answer).to.match(/transfer-encoding: chunked/i);
        expect(answer).not.to.match(/0\r\n\r\n$/);
      }
      const seen = await getOverHttp2(gateway.port, host);
      expect(seen.status === 502 || !seen.ended, JSON.stringify(seen)).to.equal(true);
      await eventually(() => gateway.records.length === 2);
      for (const record of gateway.records) expect(record.error).to.be.a("string");
    });
  }

  const refused: readonly [name: string, text: string][] = [
    ["two lengths", `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
    ["two equal lengths", `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`],
    ["a length and a coding", `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"],
    ["201 fields", `${ok}${"A: b\r\n".repeat(201)}\r\n`],
    ["a header over 64 KiB", `${ok}A: ${"x".repeat(65_536)}\r\n\r\n`],
    ["a flood of 1xx", "HTTP/1.1 102 x\r\n\r\n".repeat(1_000)],
    ["an upgrade that was not requested", "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"],
    ["an injected line", `${ok}X-A: a\rSet-Cookie: b=c\r\nContent-Length: 2\r\n\r\nok`],
  ];
  for (const [name, text] of refused) {
    it(`a response with ${name} is answered 502 and its connection is not used again`, async () => {
      await serve((socket, index) => void socket.write(index === 0 ? text : good, "latin1"));
      const answer = await exchange(gateway.port, get);
      // What was informational may have been relayed.
      expect(answer.slice(answer.lastIndexOf("HTTP/1.1"))).to.match(/^HTTP\/1\.1 502 /);
      expect(answer).not.to.match(/set-cookie/i);
      expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 200 [^]*good$/);
      expect(connections).to.have.length(2);
    });
  }

  const poison: readonly [name: string, request: string, text: string, status: number][] = [
    ["HEAD", get.replace("GET", "HEAD"), `${ok}Content-Length: 5\r\n\r\nevil!`, 200],
    ["a request that gets 204", get, "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\nevil!", 204],
    ["a request that gets 304", get, "HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\nevil!", 304],
    ["a complete response", get, `${good}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nevil!`, 200],
  ];
  for (const [name, request, text, status] of poison) {
    it(`bytes after the answer to ${name} never answer the next request`, async () => {
      await serve((socket, index) => void socket.write(index === 0 ? text : good, "latin1"));
      const first = await exchange(gateway.port, request);
      expect(first).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(first).not.to.include("evil");
      for (let i = 0; i < 3; i++) {
        expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 200 [^]*\r\n\r\ngood$/);
      }
    });
  }

  const announced: readonly [name: string, text: string][] = [
    ["a 204 with a length", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n"],
    ["a 204 with a coding", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n"],
    ["an interim response with a length", `HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\n${good}`],
  ];
  for (const [name, text] of announced) {
    it(`a body that ${name} announces has no connection to come on`, async () => {
      await serve((socket, index) => void socket.write(index === 0 ? text : good, "latin1"));
      expect(await exchange(gateway.port, get)).to.match(/HTTP\/1\.1 20[04] /);
      expect(await exchange(gateway.port, get)).to.match(/good$/);
      expect(connections).to.have.length(2);
    });
  }

  it("a 204 with a length of 0 leaves its connection in use", async () => {
    await serve((socket) => void socket.write("HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", "latin1"));
    for (let i = 0; i < 3; i++) expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 204 /);
    expect(connections).to.have.length(1);
  });

  it("bytes that arrive while a connection is idle close it", async () => {
    await serve((socket) => void socket.write(good, "latin1"));
    expect(await exchange(gateway.port, get)).to.match(/good$/);
    const [first] = connections;
    first?.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "latin1");
    await eventually(() => first?.destroyed === true);
    expect(await exchange(gateway.port, get)).to.match(/\r\n\r\ngood$/);
  });

  it("trailers of upstreams that frame, route or authenticate are dropped", async () => {
    const trailers = "X-Sum: 1\r\nContent-Length: 5\r\nSet-Cookie: a=b\r\nAuthorization: x\r\nHost: evil\r\n";
    await serve((socket) => void socket.write(`${chunkedHead}2\r\nok\r\n0\r\n${trailers}\r\n`, "latin1"));
    const answer = await exchange(
      gateway.port,
      get.replace("\r\nConnection", "\r\nTE: trailers\r\nConnection"),
    );
    expect(answer).to.match(/x-sum: 1/i);
    expect(answer).not.to.match(/set-cookie|authorization|evil|content-length/i);
  });

  it("trailers of upstreams cannot contain response headers that the route sets or removes", async () => {
    const trailers = "X-Internal: a\r\nX_Internal: b\r\nX-Frame-Options: ALLOW\r\nX-Sum: 1\r\n";
    await serve((socket) => void socket.write(`${chunkedHead}2\r\nok\r\n0\r\n${trailers}\r\n`, "latin1"), {
      features: {
        "response-headers": {
          set: [{ name: "X-Frame-Options", value: "DENY" }],
          remove: ["x-internal"],
        },
      },
    });
    const answer = await exchange(gateway.port, get);
    expect(answer).to.match(/x-frame-options: DENY/i);
    expect(answer).to.match(/\r\n0\r\nX-Sum: 1\r\n\r\n$/);
    const { trailers: seen } = await getOverHttp2(gateway.port, host);
    expect(seen).to.deep.equal({ "x-sum": "1" });
  });

  const upgrade = get.replace("Connection: close", "Connection: upgrade\r\nUpgrade: websocket");
  const switched = "HTTP/1.1 101 Switching Protocols\r\n";
  const wrong: readonly [name: string, text: string][] = [
    ["to another protocol", `${switched}Connection: upgrade\r\nUpgrade: h2c\r\n\r\n`],
    ["to several protocols", `${switched}Connection: upgrade\r\nUpgrade: websocket, h2c\r\n\r\n`],
    ["without Upgrade", `${switched}Connection: upgrade\r\n\r\n`],
    ["without Connection", `${switched}Upgrade: websocket\r\n\r\n`],
  ];
  for (const [name, text] of wrong) {
    it(`a WebSocket whose upstream switches ${name} gets 502`, async () => {
      await serve((socket) => void socket.write(`${text}evil`, "latin1"));
      const answer = await exchange(gateway.port, upgrade);
      expect(answer).to.match(/^HTTP\/1\.1 502 /);
      expect(answer).not.to.include("evil");
      await eventually(() => gateway.records.length === 1);
      expect(gateway.records[0]).to.include({ status: 502, error: "unexpected upgrade" });
    });
  }

  it("a response before the end of the request reaches the client, and its connection is not used again", async () => {
    await serve((socket) => void socket.write(good, "latin1"));
    const socket = connect({ host: "127.0.0.1", port: gateway.port });
    stop.push(async () => void socket.destroy());
    let answer = "";
    socket.on("error", () => {});
    socket.on("data", (piece: Buffer) => (answer += piece.toString("latin1")));
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\nbeginning`);
    await eventually(() => answer.endsWith("good"));
    expect(answer).to.match(/^HTTP\/1\.1 200 /);
    await eventually(() => connections[0]?.destroyed === true);
    expect(await exchange(gateway.port, get)).to.match(/good$/);
    expect(connections).to.have.length(2);
  });

  it("an upstream that half-closes without a response is answered 502, and after a response its connection is not used again", async () => {
    await serve((socket, index) => {
      if (index > 0) socket.write(good, "latin1");
      socket.end();
    });
    expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 502 /);
    for (let i = 0; i < 3; i++) expect(await exchange(gateway.port, get)).to.match(/good$/);
  });

  it("an upstream that never reads stops the upload with little in memory, until the send timeout", async () => {
    const server = await startTcp((socket) => void socket.pause());
    stop.push(() => server.close());
    await start([server.port], { features: { timeouts: { sendTimeoutMs: 500 } } });
    const socket = connect({ host: "127.0.0.1", port: gateway.port });
    stop.push(async () => void socket.destroy());
    let answer = "";
    socket.on("error", () => {});
    socket.on("data", (piece: Buffer) => (answer += piece.toString("latin1")));
    const size = 1024 * 1024 * 1024;
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${size}\r\n\r\n`);
    const piece = Buffer.alloc(65_536);
    let offered = 0;
    const push = (): void => {
      while (offered < size && !socket.destroyed) {
        offered += piece.length;
        if (!socket.write(piece)) return;
      }
    };
    socket.on("drain", push);
    push();
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ status: 504, error: "upstream send timeout" });
    // The buffers of four sockets are in between; the proxy itself holds two pieces.
    expect(offered).to.be.below(size / 2);
  });
});
