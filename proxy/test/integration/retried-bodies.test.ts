import { connect } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { connectionOf, type DrivenConnection } from "./driven-connections.ts";
import { eventually, startGateway, startTcp } from "./gateway.ts";

const half = "h".repeat(500);

describeCodecs("retries of requests whose body has not been read, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  for (const protocol of ["http1", "http2"] as const) {
    /** Sends the head of a POST with a body of `length` bytes to a route that retries 503 twice, and to one endpoint. */
    const begin = async (length: number, more = "") => {
      const connections: DrivenConnection[] = [];
      const server = await startTcp((socket) => connections.push(connectionOf(protocol, socket)));
      closing.push(server);
      const gateway = await startGateway({
        ports: [server.port],
        protocol,
        features: { retry: { attempts: 2, codes: [503] } },
      });
      closing.push(gateway);
      const socket = connect({ host: "127.0.0.1", port: gateway.port });
      closing.push({ close: () => socket.destroy() });
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      const head = `POST / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Length: ${length}\r\n`;
      socket.write(`${head}${more}\r\n`);
      /** The bodies of the requests that the backend has received, an HTTP/2 connection may have several. */
      const heads = (): number => connections.reduce((sum, one) => sum + one.heads, 0);
      const last = (): DrivenConnection => connections.at(-1) as DrivenConnection;
      return { gateway, socket, text: () => text, heads, last };
    };

    it(`a POST that ${protocol} backends reject before its body is read is retried, and its client gets one 100`, async () => {
      const { gateway, socket, text, heads, last } = await begin(100_000, "Expect: 100-continue\r\n");
      for (const attempt of [1, 2]) {
        await eventually(() => heads() === attempt);
        last().serve(503);
      }
      await eventually(() => heads() === 3);
      last().interim();
      await eventually(() => text().includes("100 Continue"));
      socket.write("x".repeat(100_000));
      await eventually(() => last().body.length >= 50_000);
      last().serve();
      await eventually(() => / 200 OK[^]*ok/.test(text()));
      expect(text().split("100 Continue")).to.have.length(2);
      expect(gateway.records[0]?.attempts).to.equal(3);
    });

    it(`a POST that a ${protocol} backend rejects while its body arrives is retried with the whole body`, async () => {
      const { gateway, socket, text, heads, last } = await begin(1000);
      socket.write(half);
      await eventually(() => heads() === 1 && last().body === half);
      last().serve(503);
      await eventually(() => heads() === 2 && last().body === half);
      socket.write("i".repeat(500));
      await eventually(() => last().body === half + "i".repeat(500));
      last().serve();
      await eventually(() => / 200 OK[^]*ok/.test(text()));
      expect(gateway.records[0]?.attempts).to.equal(2);
    });
  }
});
