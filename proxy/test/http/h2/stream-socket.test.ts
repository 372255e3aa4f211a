import { once } from "node:events";
import { expect } from "chai";
import { StreamSocket, type TunnelStream } from "../../../src/http/h2/native/stream-socket.ts";

describe("the socket of a tunnel over HTTP/2", () => {
  let takenBytes: number;
  let socket: StreamSocket;
  const stream: TunnelStream = {
    take: (bytes) => void (takenBytes += bytes),
    send: (_bytes, done) => done(),
    finish: () => undefined,
    release: () => undefined,
  };
  const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    takenBytes = 0;
    socket = new StreamSocket(stream);
  });
  afterEach(() => socket.destroy());

  it("content that is not read is not taken, and waits in few pieces, however small they came", async () => {
    socket.pause();
    const octet = Buffer.from("x");
    for (let i = 0; i < 10_000; i++) {
      socket.receive(octet);
      if (i % 1000 === 0) await turn();
    }
    expect(takenBytes).to.be.lessThan(2000);
    const pieces: string[] = [];
    socket.on("data", (bytes: Buffer) => pieces.push(bytes.toString()));
    socket.resume();
    socket.endOfContent();
    await once(socket, "end");
    expect(pieces.join("")).to.equal("x".repeat(10_000));
    expect(pieces.length).to.be.lessThan(20);
    expect(takenBytes).to.equal(10_000);
  });

  it("content that is being read is handed on at once, and is the reader's to keep", async () => {
    const pieces: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => pieces.push(bytes));
    await turn();
    const memory = Buffer.from("first");
    socket.receive(memory);
    memory.fill("!");
    expect(pieces.join("")).to.equal("first");
    await turn();
    socket.receive(Buffer.from(" second"));
    socket.endOfContent();
    await once(socket, "end");
    expect(Buffer.concat(pieces).toString()).to.equal("first second");
  });

  it("content that was not read is given back when the tunnel is destroyed", async () => {
    socket.pause();
    socket.receive(Buffer.alloc(1000));
    socket.destroy();
    await once(socket, "close");
    socket.receive(Buffer.alloc(10));
    expect(takenBytes).to.equal(1010);
  });
});
