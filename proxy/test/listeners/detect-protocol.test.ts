import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expect } from "chai";
import { detectProtocol, FirstBytes } from "../../src/listeners/detect-protocol.ts";
import { eventually } from "../http/h1/harness.ts";
import { holdClock } from "../http/held-clock.ts";
import { layerNamed } from "../socket-layers.ts";

type Decided = { readonly protocol: string; readonly spentMs: number; readonly text: string };

/** How the first bytes are waited for: on a socket, or on a transport. */
const detections: Readonly<Record<string, (socket: Socket, decided: Decided[]) => void>> = {
  "on its socket": (socket, decided) =>
    detectProtocol(socket, 60_000, {
      onProtocol: (protocol, spentMs) =>
        decided.push({ protocol, spentMs, text: (socket.read() as Buffer).toString("latin1") }),
      onSilent: () => {},
    }),
  "on its transport": (socket, decided) => {
    const transport = layerNamed("handles").take(socket);
    const first = new FirstBytes(transport, 60_000, {
      onProtocol: (protocol, { bytes }, spentMs) =>
        decided.push({ protocol, spentMs, text: bytes.toString("latin1") }),
      onSilent: () => {},
    });
    transport.start(first);
  },
};

for (const [where, detect] of Object.entries(detections))
  describe(`the detection of the protocol of a cleartext connection, ${where}`, () => {
    const clock = holdClock();
    let server: Server;
    let client: Socket;
    let socket: Socket;
    const decided: Decided[] = [];

    beforeEach(async () => {
      decided.length = 0;
      server = createServer({ allowHalfOpen: true });
      await once(server.listen(0, "127.0.0.1"), "listening");
      client = connect((server.address() as AddressInfo).port, "127.0.0.1");
      [socket] = (await once(server, "connection")) as [Socket];
      socket.on("error", () => {});
      detect(socket, decided);
    });
    afterEach(() => {
      client.destroy();
      socket.destroy();
      server.close();
    });

    /** Sends a text, and waits until it has been looked at. */
    async function send(text: string): Promise<void> {
      const before = socket.bytesRead;
      client.write(text);
      await eventually(() => socket.bytesRead === before + text.length);
      await new Promise((resolve) => setImmediate(resolve));
    }

    it("a connection whose first bytes decide has spent no time", async () => {
      clock.advance(7_000);
      await send("GET");
      expect(decided).to.deep.equal([{ protocol: "http1", spentMs: 0, text: "GET" }]);
    });

    it("the time since an unfinished method began is reported", async () => {
      clock.advance(3_000);
      await send("PR");
      clock.advance(7_000);
      await send("I");
      expect(decided).to.deep.equal([]);
      clock.advance(2_000);
      await send("NT");
      expect(decided).to.deep.equal([{ protocol: "http1", spentMs: 9_000, text: "PRINT" }]);
    });

    it("a whole preface is HTTP/2", async () => {
      await send("PRI * HTTP/2.0\r\n");
      expect(decided).to.deep.equal([{ protocol: "http2", spentMs: 0, text: "PRI * HTTP/2.0\r\n" }]);
    });

    it("a client that ends its side before a decision is closed", async () => {
      await send("PRI");
      client.end();
      await once(client.resume(), "close");
      await eventually(() => socket.destroyed);
      expect(decided).to.deep.equal([]);
    });
  });
