import { createHash, randomBytes } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { backendTlsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { isTainted, staleMemory } from "../fuzz/stale-memory.ts";
import { authority, backend as backendCertificate } from "../upstream/tls/support.ts";
import { gateAt, gateName, httpCheck } from "./ext-auth-support.ts";
import { eventually, exchange, startGateway, startHttp, startTcp, type Gateway } from "./gateway.ts";
import { getOverHttp2 } from "./http2-client.ts";
import { l4Route, startL4 } from "./l4.ts";

const kibibyte = 1024;
const mebibyte = kibibyte * kibibyte;
const host = "a.example";
const get = (path = "/"): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describeCodecs("memory that connections share or use again, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  const closeLater = <Closable extends { close(): unknown }>(one: Closable): Closable => {
    closing.push(one);
    return one;
  };
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  /** An HTTP/1 upstream that answers each request head with these bytes, piece by piece. */
  const serveRaw = async (pieces: readonly string[], thenEnd = false): Promise<number> => {
    const server = await startTcp((socket) => {
      socket.on("data", async () => {
        for (const piece of pieces) {
          socket.write(piece, "latin1");
          for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        }
        if (thenEnd) socket.end();
      });
    });
    return closeLater(server).port;
  };

  it("an unfinished response head never shows a client the response of another backend", async () => {
    const secret = "secret-of-another-tenant";
    const body = `X-Stolen: ${secret}\r\n\r\n`.repeat(2000);
    const victim = await serveRaw([
      `HTTP/1.1 200 OK\r\nSet-Cookie: session=${secret}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]);
    const thief = await serveRaw([`HTTP/1.1 200 OK\r\nX-Leak: ${"a".repeat(20 * kibibyte)}`], true);
    const [ofVictim, ofThief] = await Promise.all(
      [victim, thief].map(async (port) => closeLater(await startGateway({ ports: [port] }))),
    );
    for (let time = 0; time < 8; time++) {
      expect(await exchange(ofVictim?.port ?? 0, get())).to.contain(secret);
      const stolen = await exchange(ofThief?.port ?? 0, get());
      expect(stolen).to.match(/^HTTP\/1\.1 502 /);
      expect(stolen).not.to.contain(secret);
      const seen = await getOverHttp2(ofThief?.port ?? 0, host);
      expect([seen.status, seen.body]).to.deep.equal([502, "502 Bad Gateway\n"]);
    }
    expect(JSON.stringify(ofThief?.records)).not.to.contain(secret);
  });

  describe("while memory holds something else before each read", () => {
    let restore: () => void;
    beforeEach(() => {
      restore = staleMemory();
    });
    afterEach(() => restore());

    const expectClean = (text: string): void =>
      void expect(isTainted(text), text.slice(0, 300)).to.equal(false);

    for (const headBytes of [200, 16_300, 16_384, 16_385, 17_000, 40_000, 65_500]) {
      it(`a response with a head of ${headBytes} bytes is served in any pieces`, async () => {
        const start = "HTTP/1.1 200 OK\r\nX-Big: ";
        const end = "\r\nContent-Length: 5\r\n\r\n";
        const big = "b".repeat(headBytes - start.length - end.length);
        const text = `${start}${big}${end}hello`;
        for (const cuts of [
          [],
          [1],
          [16_384],
          [16_385],
          [headBytes - 2],
          [headBytes - 1],
          [headBytes],
          [100, 20_000],
        ]) {
          const marks = cuts.filter((cut) => cut < text.length);
          const pieces = [0, ...marks].map((mark, index) => text.slice(mark, marks[index]));
          const gateway = closeLater(await startGateway({ ports: [await serveRaw(pieces)] }));
          const answer = await exchange(gateway.port, get());
          expect(answer.slice(0, 15), `cut at ${cuts}`).to.equal("HTTP/1.1 200 OK");
          expect(answer.includes(`X-Big: ${big}\r\n`), `cut at ${cuts}`).to.equal(true);
          expect(answer.slice(-9)).to.equal("\r\n\r\nhello");
          expectClean(answer);
          const seen = await getOverHttp2(gateway.port, host);
          // A header block of HTTP/2 is sent and read up to 64 KiB only.
          if (headBytes > 65_000) {
            expect([seen.status, seen.ended], `cut at ${cuts}`).to.deep.equal([502, true]);
            await eventually(() => gateway.records.length === 2);
            expect(gateway.records.at(-1)?.error).to.equal("response header too large for HTTP/2");
            continue;
          }
          expect([seen.status, seen.body, seen.ended], `cut at ${cuts}`).to.deep.equal([200, "hello", true]);
        }
      });
    }

    /** Reads a connection slowly, with pauses; resolves to digest and length. */
    const readSlowly = async (
      socket: Socket,
      skip: (text: string) => number,
    ): Promise<readonly [string, number]> => {
      const digest = createHash("sha256");
      let head = "";
      let inBody = false;
      let bytes = 0;
      socket.on("data", (piece: Buffer) => {
        let rest = piece;
        if (!inBody) {
          head += piece.toString("latin1");
          const at = skip(head);
          if (at < 0) return;
          inBody = true;
          rest = Buffer.from(head.slice(at), "latin1");
        }
        digest.update(rest);
        bytes += rest.length;
        if (bytes % 5 > 1) return;
        socket.pause();
        setTimeout(() => socket.resume(), bytes % 7);
      });
      await once(socket, "close");
      return [digest.digest("hex"), bytes];
    };

    const content = randomBytes(6 * mebibyte);
    const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

    it("shared memory of a response body is not overwritten before its cleartext client has taken it", async () => {
      const upstream = closeLater(
        await startHttp((_, response) => {
          response.setHeader("Content-Length", content.length);
          response.end(content);
        }),
      );
      const gateway = closeLater(await startGateway({ ports: [upstream.port] }));
      const results = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const socket = connect({ host: "127.0.0.1", port: gateway.port });
          socket.write(get());
          return readSlowly(socket, (text) => {
            const mark = text.indexOf("\r\n\r\n");
            return mark < 0 ? -1 : mark + 4;
          });
        }),
      );
      for (const result of results) expect(result).to.deep.equal([digestOf(content), content.length]);
    });

    it("shared memory of a TCP route is not overwritten before its client has taken it", async () => {
      const server = closeLater(await startTcp((socket) => void socket.end(content)));
      const set = "ns/db/5432";
      const gateway = closeLater(
        await startL4({ tcp: l4Route([set, 1]), endpoints: { [set]: [server.port] } }),
      );
      const results = await Promise.all(
        Array.from({ length: 6 }, async () =>
          readSlowly(connect({ host: "127.0.0.1", port: gateway.tcpPort }), () => 0),
        ),
      );
      for (const result of results) expect(result).to.deep.equal([digestOf(content), content.length]);
    });

    it("responses of a backend with TLS contain no other memory", async () => {
      const bodies = ["x", "y".repeat(20_000), "z".repeat(300_000)];
      const server = createHttpsServer(
        { cert: backendCertificate.chainPem, key: backendCertificate.keyPem },
        (request, response) => void response.end(bodies[Number(request.url?.slice(1))]),
      );
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      closeLater({ close: () => (server.closeAllConnections(), server.close()) });
      const policy = { hostname: "backend.test", authorities: authority.leafPem };
      const gateway = closeLater(
        await startGateway({
          ports: [(server.address() as AddressInfo).port],
          backendTls: "ns/strict",
          resources: [encodeResource<"backendtls">(backendTlsKey("ns/strict"), policy)],
        }),
      );
      for (const [index, body] of bodies.entries()) {
        const answer = await exchange(gateway.port, get(`/${index}`));
        expectClean(answer);
        // Chunked where the backend's server does so: the content must be there, in order.
        expect(answer.replaceAll(/[^xyz]/g, "").endsWith(body)).to.equal(true);
      }
    });

    it("the request body that backend, mirror and authorization service get contains no other memory", async () => {
      type Got = { text: string; readonly to: string };
      const got: Got[] = [];
      const listen = async (to: string): Promise<number> => {
        let refusals = 0;
        const server = await startHttp((request, response) => {
          const one = { text: "", to };
          got.push(one);
          request.on("data", (piece: Buffer) => (one.text += piece.toString("latin1")));
          request.on("end", () => {
            // Answers 503 once, so that the kept body is sent again.
            response.statusCode = to === "backend" && refusals++ % 2 === 0 ? 503 : 200;
            response.end("ok");
          });
        });
        return closeLater(server).port;
      };
      const [backend, copy, gate] = [await listen("backend"), await listen("copy"), await listen("gate")];
      const gateway: Gateway = closeLater(
        await startGateway({
          ports: [backend],
          features: {
            "ext-auth": [{ check: { ...httpCheck, maxBodyBytes: 60_000 } }],
            "mirror-target": [{ service: "ns/copy", endpoints: "ns/copy/80", protocol: "http1" }],
            retry: { attempts: 1, codes: [503] },
          },
          resources: [gateAt(gateName, gate), gateAt("ns/copy/80", copy)],
        }),
      );
      for (const size of [1, 700, 1500, 9000, 60_000]) {
        for (const step of [size, 613]) {
          const body = "b".repeat(size);
          let text = `POST / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
          for (let at = 0; at < size; at += step) {
            const piece = body.slice(at, at + step);
            text += `${piece.length.toString(16)}\r\n${piece}\r\n`;
          }
          got.length = 0;
          const answer = await exchange(gateway.port, `${text}0\r\n\r\n`);
          expect(answer).to.match(/^HTTP\/1\.1 200 /);
          await eventually(() => got.length === 4 && got.every((one) => one.text.length >= size));
          expect(got.map(({ to }) => to).toSorted()).to.deep.equal(["backend", "backend", "copy", "gate"]);
          for (const one of got) expect(one.text === body, `${one.to}, ${size} bytes`).to.equal(true);
        }
      }
      expectClean(JSON.stringify(gateway.records));
    });

    it("datagrams of alternating lengths are relayed unchanged", async () => {
      const echo: UdpSocket = createSocket("udp4");
      echo.on("message", (message, { port, address }) => echo.send(message, port, address));
      echo.bind(0, "127.0.0.1");
      await once(echo, "listening");
      closeLater(echo);
      const set = "ns/dns/53/udp";
      const gateway = closeLater(
        await startL4({ udp: l4Route([set, 1]), endpoints: { [set]: [echo.address().port] } }),
      );
      const client = closeLater(createSocket("udp4"));
      for (const size of [1400, 1, 0, 9000, 17, 60_000, 3]) {
        const message = Buffer.alloc(size, `${size} `);
        const answer = once(client, "message") as Promise<[Buffer]>;
        client.send(message, gateway.udpPort, "127.0.0.1");
        expect((await answer)[0].equals(message), `${size}`).to.equal(true);
      }
    });
  });
});
