import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { connectionOf, type DrivenConnection } from "./driven-connections.ts";
import { eventually, exchange, startGateway, startTcp, type Gateway } from "./gateway.ts";

const host = "a.test";
const half = "h".repeat(500);

describeCodecs("requests with a body whose reused connection is lost, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  for (const protocol of ["http1", "http2"] as const) {
    /** Starts a gateway and a backend, to which one connection is open that has served a request. */
    const start = async (
      ...settings: readonly string[]
    ): Promise<{
      readonly gateway: Gateway;
      readonly connections: DrivenConnection[];
      readonly warm: DrivenConnection;
    }> => {
      const connections: DrivenConnection[] = [];
      const server = await startTcp((socket) => connections.push(connectionOf(protocol, socket)));
      closing.push(server);
      const gateway = await startGateway({ ports: [server.port], protocol, hosts: [host] }, settings);
      closing.push(gateway);
      const first = exchange(gateway.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await eventually(() => connections[0]?.heads === 1);
      const warm = connections[0] as DrivenConnection;
      warm.serve();
      expect(await first).to.match(/ 200 OK[^]*ok/);
      return { gateway, connections, warm };
    };

    /** Sends the head of a request with a body of 1000 bytes. */
    const begin = ({ port }: Gateway, method: string, more = ""): { socket: Socket; text: () => string } => {
      const socket = connect({ host: "127.0.0.1", port });
      closing.push({ close: () => socket.destroy() });
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      socket.write(
        `${method} / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 1000\r\n${more}\r\n`,
      );
      return { socket, text: () => text };
    };

    for (const method of ["PUT", "DELETE"]) {
      it(`a ${method} whose body was sent over a lost ${protocol} connection is sent again as a whole`, async () => {
        const { gateway, connections, warm } = await start();
        const client = begin(gateway, method);
        client.socket.write(half + half);
        await eventually(() => warm.body.length === 1000);
        warm.lose();
        await eventually(() => connections[1]?.body.length === 1000);
        connections[1]?.serve();
        await eventually(() => / 200 OK[^]*ok/.test(client.text()));
        expect([connections.length, gateway.records[1]?.status, gateway.records[1]?.attempts]).to.deep.equal([
          2, 200, 1,
        ]);
      });
    }

    it(`a PUT whose body is still arriving when its ${protocol} connection is lost is sent again as a whole`, async () => {
      const { gateway, connections, warm } = await start();
      const client = begin(gateway, "PUT");
      client.socket.write(half);
      await eventually(() => warm.body.length === 500);
      warm.lose();
      await eventually(() => connections[1]?.body.length === 500);
      client.socket.write("i".repeat(500));
      await eventually(() => connections[1]?.body.length === 1000);
      expect(connections[1]?.body).to.equal(half + "i".repeat(500));
      connections[1]?.serve();
      await eventually(() => / 200 OK[^]*ok/.test(client.text()));
    });

    it(`a PUT of which more was read than is kept gets 502 when its ${protocol} connection is lost`, async () => {
      const { gateway, connections, warm } = await start("--proxy-retry-buffer-size=999");
      const client = begin(gateway, "PUT");
      client.socket.write(half + half);
      await eventually(() => warm.body.length === 1000);
      warm.lose();
      await eventually(() => client.text().startsWith("HTTP/1.1 502 "));
      expect(connections).to.have.length(1);
    });

    it(`a POST whose body was sent gets 502 when its ${protocol} connection is lost`, async () => {
      const { gateway, connections, warm } = await start();
      const client = begin(gateway, "POST");
      client.socket.write(half + half);
      await eventually(() => warm.body.length === 1000);
      warm.lose();
      await eventually(() => client.text().startsWith("HTTP/1.1 502 "));
      expect(connections).to.have.length(1);
    });

    it(`a client receives one 100 (Continue) although its ${protocol} connection is replaced`, async () => {
      const { gateway, connections, warm } = await start();
      const client = begin(gateway, "PUT", "Expect: 100-continue\r\n");
      // The backend sends no 100, so the proxy does.
      await eventually(() => client.text() === "HTTP/1.1 100 Continue\r\n\r\n");
      client.socket.write(half + half);
      await eventually(() => warm.body.length === 1000);
      warm.lose();
      await eventually(() => connections[1]?.heads === 1);
      connections[1]?.interim();
      await eventually(() => connections[1]?.body.length === 1000);
      connections[1]?.serve();
      await eventually(() => / 200 OK[^]*ok/.test(client.text()));
      expect(client.text().split("100 Continue")).to.have.length(2);
    });
  }
});
