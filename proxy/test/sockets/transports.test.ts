import { once } from "node:events";
import type { Socket } from "node:net";
import { expect } from "chai";
import { takenBytes } from "../../src/http/taken-bytes.ts";
import { resetSocket } from "../../src/sockets/reset.ts";
import type { Transport } from "../../src/sockets/transport.ts";
import { eventually } from "../http/h1/harness.ts";
import { describeSocketLayers, socketLayer } from "../socket-layers.ts";
import { collect, endsBehindAll, muchBytes, Record, transportBench, turns } from "./transport-bench.ts";

describeSocketLayers("a transport", () => {
  const { accept, take } = transportBench();

  it("a transport passes on all octets, in both directions", async () => {
    const { client, transport, record } = await take();
    const octets = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
    const received = collect(client);
    client.write(octets);
    await eventually(() => record.text.length === 256);
    expect(record.text).to.equal(octets.toString("latin1"));
    transport.writeText(octets.toString("latin1"));
    transport.writeBytes("<", octets, ">");
    transport.writeBytes("", octets, "");
    transport.writeBytes("", octets, ".");
    const text = octets.toString("latin1");
    const expected = `${text}<${text}>${text}${text}.`;
    await eventually(() => received().length === expected.length);
    expect(received()).to.equal(expected);
  });

  it("a transport begins with the bytes that were put back into its socket, and with an end that was read before", async () => {
    const { client, socket } = await accept();
    client.end("first second");
    await once(socket, "readable");
    const read = socket.read() as Buffer;
    socket.unshift(read);
    await eventually(() => socket.readableLength === 12);
    const transport = socketLayer().take(socket);
    const record = new Record();
    transport.start(record);
    expect(transport.hasUnread).to.equal(true);
    expect(record.pieces).to.have.length(0);
    await eventually(() => record.events.includes("ended"));
    expect(record.text).to.equal("first second");
    expect(transport.hasUnread).to.equal(false);
    transport.end();
    await eventually(() => record.events.includes("closed"));
  });

  it("a transport that is paused before its first bytes passes them on when it is resumed", async () => {
    const { client, socket } = await accept();
    client.write("early");
    await once(socket, "readable");
    socket.unshift(socket.read() as Buffer);
    const transport = socketLayer().take(socket);
    const record = new Record();
    transport.start(record);
    transport.pause();
    client.write(" late");
    await turns();
    expect(record.text).to.equal("");
    transport.resume();
    transport.pause();
    transport.resume();
    await eventually(() => record.text === "early late");
  });

  it("a paused transport reads nothing, and goes on where it stopped", async () => {
    const { client, transport, record } = await take();
    record.onPiece = () => transport.pause();
    const much = Buffer.alloc(muchBytes, "0123456789");
    client.write(much);
    await eventually(() => record.pieces.length === 1);
    await turns();
    expect(record.pieces).to.have.length(1);
    record.onPiece = () => {};
    transport.resume();
    await eventually(() => record.pieces.reduce((sum, { length }) => sum + length, 0) === muchBytes);
    expect(Buffer.concat(record.pieces).equals(much)).to.equal(true);
  });

  it("a transport that is paused and resumed from within a read reads on", async () => {
    const { client, transport, record } = await take();
    record.onPiece = () => {
      transport.pause();
      transport.resume();
    };
    client.write("a");
    await eventually(() => record.text === "a");
    client.write("b");
    await eventually(() => record.text === "ab");
  });

  it("what the system does not take waits, and taken is called once all of it has left", async () => {
    const { client, socket, transport, record } = await take();
    client.pause();
    const much = Buffer.alloc(muchBytes, "much");
    transport.writeBytes("<", much, ">");
    transport.writeText("text".repeat(10_000));
    transport.writeBytes("", Buffer.from("end"), "");
    const total = muchBytes + 2 + 40_000 + 3;
    expect(transport.waitingBytes).to.be.above(40_000);
    transport.whenTaken();
    transport.whenTaken();
    await turns();
    expect(record.events).to.deep.equal([]);
    expect(transport.takenBytes).to.be.below(total);
    expect(transport.takenBytes).to.equal(takenBytes(socket));
    const hash: Buffer[] = [];
    client.on("data", (bytes: Buffer) => hash.push(bytes)).resume();
    await eventually(() => record.events.length > 0);
    expect(record.events).to.deep.equal(["taken"]);
    expect([transport.waitingBytes, transport.takenBytes]).to.deep.equal([0, total]);
    await eventually(() => hash.reduce((sum, { length }) => sum + length, 0) === total);
    const text = Buffer.concat(hash).toString("latin1");
    expect(text).to.equal(`<${much.toString("latin1")}>${"text".repeat(10_000)}end`);
  });

  it("taken is called later than whenTaken returns, also when nothing waits", async () => {
    const { transport, record } = await take();
    transport.writeText("x");
    transport.whenTaken();
    expect(record.events).to.deep.equal([]);
    await eventually(() => record.events.length > 0);
    expect(record.events).to.deep.equal(["taken"]);
  });

  it("lent memory is the writer's again where the system has taken all of it, and stays as it is where some waits", async () => {
    const { client, transport } = await take();
    let returned = 0;
    transport.lendBytes(Buffer.from("small"), () => returned++);
    expect(returned).to.equal(1);
    client.pause();
    transport.lendBytes(Buffer.alloc(muchBytes, "much"), () => returned++);
    expect([returned, transport.waitingBytes > 0]).to.deep.equal([1, true]);
  });

  it("a client that ends its side can still be written to, and both ends close the connection", async () => {
    const { client, transport, record } = await take();
    const received = collect(client);
    client.end("last");
    await eventually(() => record.events.includes("ended"));
    expect([record.text, transport.writable, transport.finished]).to.deep.equal(["last", true, false]);
    transport.writeText("answer");
    transport.end();
    expect(transport.writable).to.equal(false);
    await eventually(() => record.events.includes("closed") && client.readableEnded);
    expect(received()).to.equal("answer");
    expect([transport.finished, record.code]).to.deep.equal([true, undefined]);
  });

  it("an end leaves behind everything that waits, and reading goes on", async () => {
    await endsBehindAll(await take());
  });

  it("a reset of the client is reported with its code", async () => {
    const { client, transport, record } = await take();
    transport.writeText("x");
    await once(client, "readable");
    client.resetAndDestroy();
    await eventually(() => record.events.includes("closed"));
    expect(record.code).to.equal("ECONNRESET");
    expect(record.events).to.deep.equal(["closed"]);
  });

  it("a transport whose client has reset the connection is closed once, and later calls have no effect", async () => {
    const { client, transport, record } = await take();
    transport.pause();
    client.pause();
    transport.writeBytes("", Buffer.alloc(muchBytes), "");
    client.resetAndDestroy();
    await eventually(() => record.events.includes("closed"));
    expect(record.code).to.be.oneOf(["ECONNRESET", "EPIPE"]);
    expect(record.events).to.deep.equal(["closed"]);
    transport.writeText("late");
    transport.writeBytes("", Buffer.from("late"), "");
    transport.pause();
    transport.resume();
    transport.end();
    transport.reset();
    transport.destroy();
    await turns();
    expect(record.events).to.deep.equal(["closed"]);
  });

  it("a transport resets a connection", async () => {
    const { client, transport, record } = await take();
    let code: string | undefined;
    client.on("error", (error: NodeJS.ErrnoException) => (code = error.code));
    transport.reset();
    await eventually(() => record.events.includes("closed") && client.destroyed);
    expect(code).to.equal("ECONNRESET");
  });

  for (const by of ["its protocol", "others that have its socket"]) {
    const reset = (transport: Transport, socket: Socket): void => {
      if (by === "its protocol") transport.reset();
      else resetSocket(socket);
    };

    it(`a transport that has ended its side while bytes wait is reset by ${by}, and closed`, async () => {
      const { client, socket, transport, record } = await take();
      client.pause();
      let code: string | undefined;
      client.on("error", (error: NodeJS.ErrnoException) => (code = error.code));
      transport.writeBytes("", Buffer.alloc(muchBytes, "x"), "");
      transport.end();
      await turns();
      reset(transport, socket);
      await eventually(() => record.events.includes("closed"));
      expect([record.events, record.code]).to.deep.equal([["closed"], undefined]);
      client.resume();
      await eventually(() => client.destroyed);
      expect(code).to.equal("ECONNRESET");
    });

    it(`a transport that ends its side and is reset by ${by} in the same turn is closed without an error`, async () => {
      const { client, socket, transport, record } = await take();
      client.resume();
      transport.end();
      reset(transport, socket);
      await eventually(() => record.events.includes("closed"));
      expect([record.events, record.code]).to.deep.equal([["closed"], undefined]);
    });
  }

  it("a transport that is destroyed from within a read reports nothing more but its end", async () => {
    const { client, transport, record } = await take();
    record.onPiece = () => transport.destroy();
    client.write("one");
    await eventually(() => record.events.includes("closed"));
    expect([record.text, ...record.events]).to.deep.equal(["one", "closed"]);
    expect(transport.writable).to.equal(false);
  });

  it("a socket that is destroyed from outside ends its transport, and later calls do nothing", async () => {
    const { socket, client, transport, record } = await take();
    client.pause();
    transport.writeBytes("", Buffer.alloc(muchBytes), "");
    socket.destroy();
    transport.writeText("late");
    transport.writeBytes("<", Buffer.from("late"), ">");
    transport.pause();
    transport.resume();
    transport.whenTaken();
    expect(transport.writable).to.equal(false);
    await eventually(() => record.events.includes("closed"));
    await turns();
    expect(record.events).to.deep.equal(["closed"]);
  });
});
