import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import { connect, constants as http2 } from "node:http2";
import type { Socket } from "node:net";
import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import type { Compression } from "@svc-gateway/common/features/compression.ts";
import { expect } from "chai";
import { eventually, startGateway, startHttp, type Gateway } from "./gateway.ts";

const host = "a.example";
const compression: Compression = {
  gzip: true,
  brotli: true,
  level: 5,
  minSize: 100,
  types: ["text/html", "text/event-stream"],
};

/** Ten megabytes that compress well but not to nothing. */
const page = Array.from({ length: 400_000 }, (_, index) => `<p>${(index * 7919) % 99_991}</p>`).join("");

describe("compression, through the whole data plane", () => {
  let gateway: Gateway;
  let stop: (() => Promise<void> | void)[] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  async function serve(respond: RequestListener): Promise<void> {
    const upstream = await startHttp(respond);
    stop.push(() => upstream.close());
    gateway = await startGateway({ ports: [upstream.port], features: { compression } });
    const started = gateway;
    stop.push(() => started.close());
  }

  async function get(accepts: string, method = "GET"): Promise<IncomingMessage> {
    const headers = { host, "accept-encoding": accepts };
    const request = httpRequest({ host: "127.0.0.1", port: gateway.port, method, headers, agent: false });
    request.on("error", () => {});
    request.end();
    const [message] = (await once(request, "response")) as [IncomingMessage];
    return message;
  }

  async function bytesOf(message: AsyncIterable<unknown>): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  const sendPage: RequestListener = (_, response) => {
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-length": page.length,
      etag: '"1"',
      "accept-ranges": "bytes",
    });
    response.end(page);
  };

  it("HTTP/1.1: a page arrives in brotli, in gzip, or as it is", async () => {
    await serve(sendPage);
    const brotli = await get("gzip, br");
    expect(brotli.headers).to.include({
      "content-encoding": "br",
      vary: "Accept-Encoding",
      etag: 'W/"1"',
      "transfer-encoding": "chunked",
    });
    expect(brotli.headers).not.to.have.any.keys("content-length", "accept-ranges");
    expect(brotliDecompressSync(await bytesOf(brotli)).toString() === page).to.equal(true);
    const gzip = await get("gzip");
    const sent = await bytesOf(gzip);
    expect(gunzipSync(sent).toString() === page).to.equal(true);
    expect(gateway.records[1]?.bytesSent).to.equal(sent.length);
    const plain = await get("");
    expect(plain.headers).to.include({ "content-length": String(page.length), vary: "Accept-Encoding" });
    expect((await bytesOf(plain)).toString() === page).to.equal(true);
    const head = await get("gzip", "HEAD");
    expect(head.headers).to.include({ "content-length": String(page.length), vary: "Accept-Encoding" });
  });

  it("HTTP/2: a page arrives in brotli", async () => {
    await serve(sendPage);
    const session = connect(`http://127.0.0.1:${gateway.port}`);
    stop.push(() => session.destroy());
    const stream = session.request({ ":authority": host, ":path": "/", "accept-encoding": "br" });
    const [headers] = (await once(stream, "response")) as [Record<string, string>];
    expect(headers).to.include({ "content-encoding": "br", vary: "Accept-Encoding", etag: 'W/"1"' });
    expect(brotliDecompressSync(await bytesOf(stream)).toString() === page).to.equal(true);
  });

  it("an event arrives before the next one is sent", async () => {
    let next: ((event: string) => void) | undefined;
    await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      next = (event) => response.write(event);
    });
    const message = await get("gzip");
    expect(message.headers["content-encoding"]).to.equal("gzip");
    let received = Buffer.alloc(0);
    message.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
    message.on("error", () => {});
    await eventually(() => next !== undefined);
    let expected = "";
    for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
      next?.(event);
      expected += event;
      await eventually(
        () =>
          received.length > 0 &&
          gunzipSync(received, { finishFlush: constants.Z_SYNC_FLUSH }).toString() === expected,
      );
    }
    message.destroy();
  });

  for (const version of ["HTTP/1.1", "HTTP/2"]) {
    it(`${version}: a client that reads nothing stops the upstream, and its leaving frees everything`, async () => {
      let upstream: Socket | undefined;
      let written = 0;
      await serve((request, response) => {
        upstream = request.socket;
        response.writeHead(200, { "content-type": "text/html" });
        // Nothing that compresses, without end.
        const piece = Buffer.from(page.slice(0, 65_536));
        const write = (): void => {
          while (!response.destroyed) {
            for (let i = 0; i < piece.length; i++) piece[i] = Math.random() * 256;
            written += piece.length;
            if (!response.write(piece)) return void response.once("drain", write);
          }
        };
        write();
      });
      let leave: () => void;
      if (version === "HTTP/2") {
        const session = connect(`http://127.0.0.1:${gateway.port}`);
        stop.push(() => session.destroy());
        const stream = session.request({ ":authority": host, ":path": "/", "accept-encoding": "br" });
        stream.on("error", () => {});
        await once(stream, "response");
        leave = () => stream.close(http2.NGHTTP2_CANCEL);
      } else {
        const message = await get("br");
        message.on("error", () => {});
        leave = () => message.destroy();
      }
      // Sockets and encoder are full when a while passes in which nothing more is written.
      let before = -1;
      while (before !== written) {
        before = written;
        for (let turns = 0; turns < 300; turns++) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(upstream?.destroyed).to.equal(false);
      expect(written).to.be.lessThan(64 * 1024 * 1024);
      leave();
      await eventually(() => upstream?.destroyed === true);
      await eventually(() => gateway.records.length === 1);
    });
  }
});
