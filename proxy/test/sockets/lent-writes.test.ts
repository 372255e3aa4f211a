import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "chai";
import { ReadBuffer, sharedReadBytes } from "../../src/sockets/read-buffer.ts";
import { eventually } from "../http/h1/harness.ts";
import { describeSocketLayers, socketLayer } from "../socket-layers.ts";

const sizes = [1, 9_000, 30_000, ...Array.from({ length: 35 }, () => sharedReadBytes), 9_000, 400_000];
const texts = ["<a>", " b ", "<c ", " d>", "<e>", " f "].map((text) => [...text] as [string, string, string]);
const ignored = { receive() {}, ended() {}, taken() {}, closed() {} };

describeSocketLayers("writes of memory that is lent", () => {
  it("memory that is lent to a transport may be written over at once, whether the system takes it or not", async () => {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const [socket] = (await once(server, "connection")) as [Socket];
    try {
      const transport = socketLayer().take(socket);
      transport.start(ignored);
      let expected = "";
      for (const size of sizes) {
        for (const [before, letter, after] of texts) {
          const lent = transport.takesViews && size <= sharedReadBytes;
          const bytes = lent ? new ReadBuffer().next().subarray(0, size) : Buffer.alloc(size);
          transport.writeBytes(before, bytes.fill(letter), after);
          expected += before + letter.repeat(size) + after;
          if (lent) bytes.fill("!");
        }
      }
      expect(transport.waitingBytes).to.be.above(0);
      let received = "";
      client.on("data", (bytes: Buffer) => (received += bytes.toString("latin1")));
      await eventually(() => received.length === expected.length && transport.waitingBytes === 0);
      expect(received === expected).to.equal(true);
    } finally {
      client.destroy();
      socket.destroy();
      server.close();
    }
  });
});
