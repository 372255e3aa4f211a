import { connect as connectHttp2, type ClientHttp2Stream } from "node:http2";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { eventually, exchange, startGateway, startHttp, type Gateway, type HttpUpstream } from "./gateway.ts";

const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

describeCodecs("limits of clients, through the whole data plane", () => {
  let gateway: Gateway;
  let upstream: HttpUpstream;
  let held: ServerResponse[];

  async function start(feature: RateLimit, body = "ok"): Promise<void> {
    held = [];
    upstream = await startHttp((request, response) => {
      if (request.url === "/held") held.push(response);
      else response.end(body);
    });
    gateway = await startGateway({ ports: [upstream.port], features: { "rate-limit": feature } });
  }
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const statusOf = async (): Promise<string> => (await exchange(gateway.port, get)).slice(9, 12);

  it("a client has its requests in progress counted over all its connections until they have ended", async () => {
    await start({ maxConcurrent: 2, concurrentStatus: 503 });
    const sockets: Socket[] = [];
    for (const count of [1, 2]) {
      const socket = connect({ host: "127.0.0.1", port: gateway.port });
      sockets.push(socket);
      socket.on("error", () => {});
      socket.write("GET /held HTTP/1.1\r\nHost: a.example\r\n\r\n");
      // Each request is held before the next one is sent, so that both are in the order of their connections.
      await eventually(() => held.length === count);
    }
    const refused = await exchange(gateway.port, get);
    expect(refused.slice(9, 12)).to.equal("503");
    expect(refused.toLowerCase()).to.not.include("retry-after");
    held[0]?.end("done");
    await eventually(() => gateway.records.length === 2);
    expect(await statusOf()).to.equal("200");
    sockets[1]?.destroy();
    await eventually(() => gateway.records.some(({ status }) => status === 499));
    expect(await statusOf()).to.equal("200");
    for (const socket of sockets) socket.destroy();
  });

  it("each stream of an HTTP/2 connection is a request in progress", async () => {
    await start({ maxConcurrent: 2, concurrentStatus: 503 });
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => {});
    const statuses: number[] = [];
    const open = (): ClientHttp2Stream => {
      const stream = session.request({ ":path": "/held", ":authority": "a.example" });
      stream.on("error", () => {});
      stream.on("response", (headers) => statuses.push(Number(headers[":status"])));
      stream.resume();
      return stream;
    };
    const [first] = [open(), open()];
    await eventually(() => held.length === 2);
    open();
    await eventually(() => statuses.length === 1);
    expect(statuses).to.deep.equal([503]);
    first.close();
    await eventually(() => gateway.records.length === 2);
    open();
    await eventually(() => held.length === 3);
    session.destroy();
  });

  it("a client above a rate is answered with the status of the route, after its burst has passed at once", async () => {
    const rates = [{ requests: 1, periodMs: 60_000, capacity: 6 }];
    await start({ rates, status: 503, zone: "web" });
    const answers: string[] = [];
    for (let i = 0; i < 8; i++) answers.push(await statusOf());
    expect(answers).to.deep.equal([...Array<string>(6).fill("200"), "503", "503"]);
  });

  it("a paced response arrives complete", async () => {
    const body = "0123456789".repeat(2_000);
    await start({ pace: { bytesPerSecond: 40_000, afterBytes: 4_000 } }, body);
    const response = await exchange(gateway.port, get);
    expect(response.endsWith(`\r\n\r\n${body}`)).to.equal(true);
  });
});
