import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { expect } from "chai";
import { takenBytes } from "../../src/http/taken-bytes.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually } from "./h1/harness.ts";

describe("takenBytes", () => {
  const total = 20_000_000;

  for (const secure of [false, true]) {
    it(`takenBytes grows with what a client takes, piece by piece of one large write${secure ? ", over TLS" : ""}`, async () => {
      const { chainPem: cert, keyPem: key } = issueCertificate(["a.example"]);
      let accepted: Socket | undefined;
      const tls = createTlsServer({ key, cert }, (socket) => (accepted = socket));
      const server = createServer((socket) => {
        if (secure) tls.emit("connection", socket);
        else accepted = socket;
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const client = secure
        ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
        : connect(port, "127.0.0.1");
      client.pause();
      await eventually(() => accepted !== undefined);
      const socket = accepted as unknown as Socket;
      const before = takenBytes(socket);
      socket.write(Buffer.alloc(total));
      await eventually(() => takenBytes(socket) > before);
      expect(takenBytes(socket) - before).to.be.below(total);
      const seen = new Set<number>();
      client.on("data", () => seen.add(takenBytes(socket))).resume();
      await eventually(() => takenBytes(socket) - before >= total);
      expect(seen.size).to.be.above(2);
      client.destroy();
      socket.destroy();
      server.close();
    });
  }
});
