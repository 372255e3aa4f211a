import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect } from "chai";
import type { AcceptedConnection } from "../../../src/sockets/accepting.ts";
import type { Transport, TransportReceiver } from "../../../src/sockets/transport.ts";
import { eventually } from "../../http/h1/harness.ts";
import { layerNamed } from "../../socket-layers.ts";

/** The calls that a receiver got, in order. */
class RecordingReceiver implements TransportReceiver {
  readonly lines: string[] = [];

  receive({ bytes }: { readonly bytes: { toString(encoding: "latin1"): string } }): void {
    this.lines.push(`bytes ${bytes.toString("latin1")}`);
  }
  ended(): void {
    this.lines.push("ended");
  }
  taken(): void {
    this.lines.push("taken");
  }
  failed(code: string | undefined): void {
    this.lines.push(`failed ${code}`);
  }
  closed(): void {
    this.lines.push("closed");
  }
}

describe("connections that are accepted without a socket", () => {
  let server: Server;
  let sockets: Socket[];
  let accepted: AcceptedConnection[];
  let transports: Transport[];
  let clients: Socket[];

  beforeEach(async () => {
    [sockets, accepted, transports, clients] = [[], [], [], []];
    server = createServer({ allowHalfOpen: true }, (socket) => sockets.push(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    expect(layerNamed("handles").acceptor?.accept(server, (one) => accepted.push(one))).to.equal(true);
  });

  afterEach(async () => {
    for (const one of [...clients, ...sockets, ...transports]) one.destroy();
    server.close();
    await once(server, "close");
  });

  async function dial(): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    client.on("error", () => {});
    clients.push(client);
    await once(client, "connect");
    await eventually(() => accepted.length > 0);
    return client;
  }

  function open(): {
    readonly transport: Transport;
    readonly receiver: RecordingReceiver;
    readonly closed: string[];
  } {
    const transport = (accepted.pop() as AcceptedConnection).open();
    const receiver = new RecordingReceiver();
    const closed: string[] = [];
    transports.push(transport);
    transport.whenClosed(() => closed.push("closed"));
    transport.start(receiver);
    return { transport, receiver, closed };
  }

  it("an accepted connection has the address of its client, and no socket is made for it", async () => {
    const client = await dial();
    const [connection] = accepted;
    expect(connection?.peer).to.deep.equal({ address: "127.0.0.1", port: client.localPort });
    expect(connection?.localAddress()).to.deep.equal({ address: "127.0.0.1", port: client.remotePort });
    expect(sockets).to.have.length(0);
    const { transport } = open();
    transport.destroy();
    await once(client.resume(), "end");
    expect(connection?.localAddress()).to.equal(undefined);
  });

  it("a connection that both sides have ended is closed, whichever ended first", async () => {
    for (const first of ["client", "proxy"]) {
      const client = await dial();
      client.resume();
      const { transport, receiver, closed } = open();
      if (first === "client") client.end("last");
      else transport.end();
      if (first === "client") await eventually(() => receiver.lines.includes("ended"));
      else await once(client, "end");
      expect(closed).to.have.length(0);
      if (first === "client") transport.end();
      else client.end("last");
      await eventually(() => closed.length === 1);
      expect(receiver.lines).to.deep.equal(["bytes last", "ended", "closed"]);
      expect(transport.finished).to.equal(true);
    }
  });

  it("the end is sent behind everything that waits", async () => {
    const client = await dial();
    const { transport } = open();
    const piece = Buffer.alloc(8_388_608, "x");
    transport.writeBytes("", piece, "");
    transport.writeText("last");
    expect(transport.waitingBytes).to.be.greaterThan(0);
    transport.end();
    expect([transport.writable, transport.finished]).to.deep.equal([false, false]);
    let [received, tail] = [0, ""];
    client.on("data", (bytes: Buffer) => {
      received += bytes.length;
      tail = bytes.toString("latin1").slice(-4);
    });
    await once(client, "end");
    expect([received, tail]).to.deep.equal([piece.length + 4, "last"]);
    await eventually(() => transport.finished);
    expect(transport.takenBytes).to.equal(piece.length + 4);
  });

  it("a reset by the client is reported with its code, then the end", async () => {
    const client = await dial();
    const { receiver } = open();
    client.resetAndDestroy();
    await eventually(() => receiver.lines.includes("closed"));
    expect(receiver.lines).to.deep.equal(["failed ECONNRESET", "closed"]);
  });

  it("a connection is closed once, however often it is destroyed or reset", async () => {
    const client = await dial();
    const { transport, receiver, closed } = open();
    transport.end();
    transport.reset();
    transport.destroy();
    transport.destroy();
    transport.reset();
    transport.writeText("late");
    await once(client.resume(), "end");
    await eventually(() => closed.length > 0);
    await dial();
    expect([receiver.lines, closed]).to.deep.equal([["closed"], ["closed"]]);
  });

  it("a reset discards what waits, and the client reads an error", async () => {
    const client = await dial();
    const { transport, receiver } = open();
    transport.writeBytes("", Buffer.alloc(8_388_608, "x"), "");
    transport.reset();
    const [error] = (await once(client.resume(), "error")) as [NodeJS.ErrnoException];
    expect(error.code).to.equal("ECONNRESET");
    await eventually(() => receiver.lines.includes("closed"));
    expect(receiver.lines).to.deep.equal(["closed"]);
  });

  it("a socket that is made of an accepted connection reads, writes and half-closes", async () => {
    const client = await dial();
    const socket = (accepted.pop() as AcceptedConnection).toSocket();
    sockets.push(socket);
    client.end("question");
    expect(String(await once(socket, "data"))).to.equal("question");
    await once(socket, "end");
    socket.end("answer");
    expect(String(await once(client, "data"))).to.equal("answer");
    await eventually(() => socket.destroyed);
  });

  it("a socket that is made of an opened connection begins with what was read, reads on, and closes with its transport", async () => {
    for (const ends of [true, false]) {
      const client = await dial();
      const connection = accepted.pop() as AcceptedConnection;
      const receiver = new RecordingReceiver();
      const transport = connection.open();
      transports.push(transport);
      transport.start(receiver);
      let isClosed = false;
      transport.whenClosed(() => (isClosed = true));
      client.write("first ");
      await eventually(() => receiver.lines.length > 0);
      const socket = connection.passToSocket(Buffer.from("first ")) as Socket;
      sockets.push(socket);
      let text = "";
      socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
      const much = "x".repeat(300_000);
      client.write(much);
      await eventually(() => text.length === much.length + 6);
      expect(text === `first ${much}`).to.equal(true);
      socket.write("answer");
      expect(String(await once(client, "data"))).to.equal("answer");
      if (ends) {
        client.end();
        socket.end();
      } else transport.destroy();
      await eventually(() => socket.destroyed && isClosed);
      expect(receiver.lines).to.deep.equal(["bytes first ", "closed"]);
      expect(connection.passToSocket(Buffer.from("late"))).to.equal(undefined);
    }
  });

  it("accepted connections send keep-alive probes, which the listening socket hands down", async () => {
    const client = await dial();
    const { localPort = 0, remotePort = 0 } = client;
    const end = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    const fields = readFileSync("/proc/self/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .find(([, own, other]) => own === end(remotePort) && other === end(localPort));
    // The timer that runs: 2 is that of keep-alive (proc_net_tcp of the kernel's documentation).
    expect(fields?.[5]).to.match(/^02:/);
  });
});
