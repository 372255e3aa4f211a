import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { expect } from "chai";
import { sharedReadBytes } from "../../src/sockets/read-buffer.ts";
import type { Transport } from "../../src/sockets/transport.ts";
import { eventually } from "../http/h1/harness.ts";
import { describeSocketLayers, socketLayer } from "../socket-layers.ts";
import { type TlsPair, TlsPairs } from "./tls-pairs.ts";
import { collect, endsBehindAll, muchBytes, Record, turns } from "./transport-bench.ts";

type Taken = TlsPair & { readonly transport: Transport; readonly record: Record };

const octets = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
const everyOctet = octets.toString("latin1");

describeSocketLayers("a transport of TLS", (layer) => {
  let pairs: TlsPairs;
  beforeEach(async () => (pairs = await TlsPairs.listen()));
  afterEach(() => pairs.close());

  /** Taken in the moment in which the handshake is complete, as fronts do. */
  async function take(onTaken: (transport: Transport) => void = () => {}): Promise<Taken> {
    const record = new Record();
    let taken: Transport | undefined;
    const pair = await pairs.accept((socket) => {
      taken = socketLayer().take(socket);
      taken.start(record);
      onTaken(taken);
    });
    return { ...pair, transport: taken as Transport, record };
  }

  it("a TLS transport passes on all octets, in both directions, however many writes a turn has", async () => {
    const { client, transport, record } = await take();
    const received = collect(client);
    client.write(octets);
    await eventually(() => record.text.length === 256);
    expect(record.text).to.equal(everyOctet);
    transport.writeText("");
    transport.writeText(everyOctet);
    transport.writeBytes("<", octets, ">");
    transport.writeBytes("", Buffer.alloc(0), "");
    transport.writeBytes("", octets, "");
    await turns();
    transport.writeText("x".repeat(200_000));
    transport.writeBytes("[", Buffer.alloc(300_000, "y"), "]");
    const expected = `${everyOctet}<${everyOctet}>${everyOctet}${"x".repeat(200_000)}[${"y".repeat(300_000)}]`;
    await eventually(() => received().length === expected.length);
    expect(received() === expected).to.equal(true);
  });

  it("what a TLS transport is given to write in the moment of its handshake arrives", async () => {
    const { client } = await take((transport) => transport.writeText("greeting"));
    const received = collect(client);
    await eventually(() => received() === "greeting");
  });

  it("memory that is lent to a TLS transport may be written over once it is returned, also while writes wait", async () => {
    const { client, transport } = await take();
    const received = collect(client);
    let expected = "";
    for (let round = 0; round < 12; round++) {
      for (const size of [1, 9_000, sharedReadBytes, 98_304, 150_000]) {
        const letter = String.fromCodePoint(97 + round);
        const bytes = Buffer.alloc(size, letter);
        transport.lendBytes(bytes, () => bytes.fill("!"));
        expected += letter.repeat(size);
      }
    }
    await eventually(() => received().length === expected.length);
    expect(received() === expected).to.equal(true);
  });

  it("a TLS transport that is paused within a read passes nothing on until it is resumed, and then all in order", async () => {
    const { client, transport, record } = await take();
    record.onPiece = () => transport.pause();
    const much = Buffer.alloc(1_000_000, "0123456789");
    client.end(much);
    await eventually(() => record.pieces.length === 1);
    for (let resumed = 1; record.text.length < much.length; resumed++) {
      await turns();
      expect(record.pieces).to.have.length(resumed);
      expect(record.events).to.deep.equal([]);
      transport.resume();
      await eventually(() => record.pieces.length > resumed);
    }
    expect(record.text === much.toString("latin1")).to.equal(true);
    transport.resume();
    await eventually(() => record.events.includes("ended"));
  });

  it("a TLS transport of a socket that closes with its peer passes on all bytes before its end, also when paused", async () => {
    const { client, socket, transport, record } = await take();
    socket.allowHalfOpen = false;
    record.onPiece = () => transport.pause();
    const much = Buffer.alloc(1_000_000, "0123456789");
    client.end(much);
    while (record.text.length < much.length) {
      const { length } = record.pieces;
      transport.resume();
      await eventually(() => record.pieces.length > length);
      await turns();
    }
    expect(record.text === much.toString("latin1")).to.equal(true);
    transport.resume();
    await eventually(() => record.events.includes("closed"));
    expect(record.events).to.deep.equal(["ended", "closed"]);
  });

  it("a TLS transport begins with what its socket has decrypted before, and with an end that came with it", async () => {
    const { client, socket } = await pairs.accept();
    client.end("early");
    await eventually(() => socket.readableLength === 5);
    const transport = socketLayer().take(socket);
    const record = new Record();
    transport.start(record);
    expect(transport.hasUnread).to.equal(true);
    await eventually(() => record.events.includes("ended"));
    expect(record.text).to.equal("early");
  });

  it("a TLS transport holds what its client does not read, and says once when it has been taken", async () => {
    const { client, socket, transport, record } = await take();
    client.pause();
    transport.writeBytes("<", Buffer.alloc(muchBytes, "much"), ">");
    transport.whenTaken();
    transport.whenTaken();
    await turns();
    expect(transport.waitingBytes).to.be.above(1_000_000);
    expect(transport.takenBytes).to.be.below(muchBytes);
    expect(record.events).to.deep.equal([]);
    let length = 0;
    client.on("data", (bytes: Buffer) => (length += bytes.length)).resume();
    await eventually(() => length === muchBytes + 2 && record.events.length > 0);
    expect(record.events).to.deep.equal(["taken"]);
    expect(transport.waitingBytes).to.equal(0);
    expect(transport.takenBytes).to.be.above(muchBytes);
    expect(socket.destroyed).to.equal(false);
  });

  if (layer === "handles") {
    it("bytes of a TLS transport that the system takes at once do not count as waiting", async () => {
      const { transport } = await take();
      await turns();
      transport.writeText("small");
      expect(transport.waitingBytes).to.equal(0);
      transport.writeText("behind");
      expect(transport.waitingBytes).to.equal(6);
      await eventually(() => transport.waitingBytes === 0);
    });
  }

  it("a client that ends its side with close_notify can still be written to, and both ends close the connection", async () => {
    const { client, transport, record } = await take();
    const received = collect(client);
    client.end("last");
    await eventually(() => record.events.includes("ended"));
    expect([record.text, transport.writable, transport.finished]).to.deep.equal(["last", true, false]);
    transport.writeText("answer");
    transport.writeText(" twice");
    transport.end();
    await eventually(() => record.events.includes("closed") && client.readableEnded);
    expect(received()).to.equal("answer twice");
    expect([transport.finished, record.code]).to.deep.equal([true, undefined]);
  });

  it("the end of a TLS transport is close_notify, behind everything that waits, and reading goes on", async () => {
    await endsBehindAll(await take());
  });

  it("a client that ends its TCP connection without close_notify ends its side", async () => {
    const { clientPlain, record } = await take();
    clientPlain.end();
    await eventually(() => record.events.includes("ended"));
    expect(record.code).to.equal(undefined);
  });

  it("a TLS client that sends a broken record gets an alert, and the connection is closed", async () => {
    const { client, clientPlain, record } = await take();
    let code: string | undefined;
    client.on("error", (error: NodeJS.ErrnoException) => (code = error.code));
    clientPlain.write(Buffer.from([23, 3, 3, 0, 17, ...Array.from({ length: 17 }, () => 0)]));
    await eventually(() => record.events.includes("closed") && code !== undefined);
    expect(record.code).to.match(/^ERR_SSL_/);
    expect(code).to.match(/^ERR_SSL_.*ALERT_BAD_RECORD_MAC$/);
  });

  it("a reset of the TCP connection under TLS fails writes once, with everything that waits", async () => {
    const { client, clientPlain, transport, record } = await take();
    transport.pause();
    client.pause();
    transport.writeBytes("", Buffer.alloc(muchBytes), "");
    await turns();
    clientPlain.resetAndDestroy();
    await eventually(() => record.events.includes("closed"));
    expect(record.code).to.be.oneOf(["ECONNRESET", "EPIPE"]);
    expect(record.events).to.deep.equal(["closed"]);
    for (const call of [
      () => transport.writeText("late"),
      () => transport.writeBytes("", octets, ""),
      () => transport.pause(),
      () => transport.resume(),
      () => transport.end(),
      () => transport.reset(),
      () => transport.destroy(),
    ]) {
      call();
    }
    await turns();
    expect(record.events).to.deep.equal(["closed"]);
  });

  for (const { by, end } of [
    { by: "its protocol", end: (transport: Transport) => transport.destroy() },
    { by: "a reset", end: (transport: Transport) => transport.reset() },
    { by: "others that have its socket", end: (_: Transport, socket: Socket) => void socket.destroy() },
  ]) {
    it(`a TLS transport that is closed by ${by} while writes wait reports its end alone`, async () => {
      const { client, socket, transport, record } = await take();
      client.pause();
      transport.writeBytes("", Buffer.alloc(muchBytes, "x"), "");
      transport.writeText("behind");
      end(transport, socket);
      transport.writeText("late");
      await eventually(() => record.events.includes("closed"));
      await turns();
      expect([record.events, record.code, transport.writable]).to.deep.equal([["closed"], undefined, false]);
    });

    it(`a TLS transport that is closed by ${by} within a read reports its end alone`, async () => {
      const { client, socket, transport, record } = await take();
      record.onPiece = () => {
        transport.writeText("answer");
        end(transport, socket);
      };
      client.write(Buffer.alloc(60_000));
      await eventually(() => record.events.includes("closed"));
      expect([record.pieces.length, record.events, record.code]).to.deep.equal([1, ["closed"], undefined]);
    });
  }

  it("a TLS transport ends with the TCP connection under it, which others have closed", async () => {
    const { client, plain, transport, record } = await take();
    client.pause();
    transport.writeBytes("", Buffer.alloc(muchBytes, "x"), "");
    plain.destroy();
    transport.writeText("late");
    await eventually(() => record.events.includes("closed"));
    expect([record.events, transport.writable]).to.deep.equal([["closed"], false]);
  });

  it("a TLS socket shows its facts while a transport uses its handle, and its session tickets arrive", async () => {
    const sessions: Buffer[] = [];
    const { client, socket, transport, record } = await take();
    client.on("session", (session: Buffer) => sessions.push(session));
    transport.writeText("x");
    client.resume().write("y");
    await eventually(() => record.text === "y" && sessions.length > 0);
    expect([socket.getProtocol(), socket.getCipher().standardName, socket.alpnProtocol]).to.deep.equal([
      "TLSv1.3",
      "TLS_AES_256_GCM_SHA384",
      false,
    ]);
    expect(socket.getX509Certificate()?.subject).to.equal("CN=pairs.example");
    expect(socket.getSession()).to.be.instanceOf(Buffer);
    const again = await pairs.accept(undefined, { session: sessions[0] });
    expect([again.client.isSessionReused(), again.socket.isSessionReused()]).to.deep.equal([true, true]);
  });

  it("a client's new keys are answered with those of the server, between and during writes", async () => {
    const record = new Record();
    let transport: Transport | undefined;
    const secured = pairs.secured((socket: TLSSocket) => {
      transport = socketLayer().take(socket);
      transport.start(record);
    });
    const child = spawn("openssl", ["s_client", "-connect", `127.0.0.1:${pairs.port}`, "-tls1_3"]);
    let output = "";
    child.stdout.on("data", (piece: Buffer) => (output += piece.toString("latin1")));
    child.stderr.on("data", (piece: Buffer) => (output += piece.toString("latin1")));
    await secured;
    for (let round = 0; round < 3; round++) {
      record.onPiece = () => {
        for (const part of ["one ", "two ", `three ${round}\n`]) transport?.writeText(part);
      };
      child.stdin.write("K\n");
      await eventually(() => output.split("KEYUPDATE").length === round + 2);
      child.stdin.write(`hello ${round}\n`);
      await eventually(() => output.includes(`one two three ${round}\n`));
    }
    expect(record.text).to.equal("hello 0\nhello 1\nhello 2\n");
    const ended = once(child, "close");
    transport?.destroy();
    await ended;
  });
});
