import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type Server } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { startGateway, type Gateway } from "./gateway.ts";

const host = "a.example";
const sizes = [1, 16_385, 65_536, 70_001, 262_144, 600_007];

/** A pattern whose length divides no buffer's, so that lost, doubled and overwritten bytes show. */
const bodyOf = (size: number, seed: number): Buffer =>
  Buffer.alloc(size, Buffer.from(Array.from({ length: 4093 }, (_, i) => (i * 31 + seed * 101) & 0xff)));

const digestOf = (...pieces: readonly Buffer[]): string => {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
};

/** Reads a message; one whose reader is slow stops for a few turns after each piece. */
async function readAll(message: IncomingMessage, isSlow: boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) {
    pieces.push(piece as Buffer);
    for (let turn = 0; isSlow && turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(pieces);
}

describeCodecs("bodies of many exchanges at a time", () => {
  let gateway: Gateway;
  let backend: Server;
  let agents: (Agent | TlsAgent)[];

  before(async () => {
    backend = createServer((incoming, response) => {
      const [, size, seed, framing] = (incoming.url ?? "").split("/");
      void readAll(incoming, framing === "slow").then((received) => {
        const body = bodyOf(Number(size), Number(seed));
        response.setHeader("X-Received", digestOf(received));
        if (framing !== "chunked") return response.setHeader("Content-Length", body.length).end(body);
        for (let at = 0; at < body.length; at += 40_000) response.write(body.subarray(at, at + 40_000));
        return response.end();
      });
    });
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    const { chainPem, keyPem } = issueCertificate([host]);
    gateway = await startGateway({
      ports: [(backend.address() as AddressInfo).port],
      certificate: { chainPem, keyPem },
    });
    agents = [
      new Agent({ keepAlive: true, maxSockets: 4 }),
      new TlsAgent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false, servername: host }),
    ];
  });
  after(async () => {
    for (const agent of agents) agent.destroy();
    backend.closeAllConnections();
    backend.close();
    await gateway.close();
  });

  const ask = async (
    secure: boolean,
    path: string,
    sent: readonly Buffer[],
    isSlow: boolean,
  ): Promise<{ body: Buffer; received: string | string[] | undefined }> => {
    const options = {
      host: "127.0.0.1",
      port: secure ? gateway.tlsPort : gateway.port,
      path,
      method: "POST",
      headers: { host },
      agent: agents[secure ? 1 : 0],
    };
    const call = secure ? tlsRequest(options as object) : request(options as object);
    for (const piece of sent) call.write(piece);
    call.end();
    const [message] = (await once(call, "response")) as [IncomingMessage];
    return { body: await readAll(message, isSlow), received: message.headers["x-received"] };
  };

  for (const secure of [false, true]) {
    it(`bodies of many exchanges arrive as they were sent, with slow clients and backends (${secure ? "TLS" : "cleartext"})`, async () => {
      const exchanges = sizes.flatMap((size, row) =>
        ["length", "chunked", "slow"].map(async (framing, column) => {
          const seed = row * 3 + column;
          const sent = [bodyOf(sizes.at(-1 - row) ?? 0, seed + 50), bodyOf(size, seed + 90)];
          const answer = await ask(secure, `/${size}/${seed}/${framing}`, sent, seed % 2 === 0);
          expect(digestOf(answer.body)).to.equal(digestOf(bodyOf(size, seed)));
          expect(answer.received).to.equal(digestOf(...sent));
        }),
      );
      await Promise.all(exchanges);
    });
  }
});
