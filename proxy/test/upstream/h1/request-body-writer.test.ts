import { expect } from "chai";
import { type RequestTransport, RequestBodyWriter } from "../../../src/upstream/h1/request-body-writer.ts";
import { ManualBody } from "../support.ts";

const head = "POST / HTTP/1.1\r\n\r\n";
const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A transport that accepts writes at once, and lent memory at once unless it is full. */
class Writes implements RequestTransport {
  readonly takesViews = true;
  readonly written: string[] = [];
  waitingBytes = 0;
  /** True if lent memory is not accepted immediately. */
  isFull = false;
  writeText(text: string): void {
    this.written.push(text);
  }
  writeBytes(before: string, bytes: Buffer, after: string): void {
    this.written.push(before + bytes.toString("latin1") + after);
  }
  lendBytes(bytes: Buffer, done: () => void): void {
    this.writeBytes("", bytes, "");
    if (this.isFull) this.waitingBytes += bytes.length;
    else done();
  }
  whenTaken(): void {}
}

function writerOf(length: number | undefined, transport = new Writes()) {
  const body = new ManualBody(length);
  const failures: string[] = [];
  const writer = new RequestBodyWriter(transport, head, body, {
    onBodyFailed: (text) => failures.push(text),
  });
  writer.start({ expectContinue: false });
  return { body, writer, failures, transport, written: transport.written };
}

describe("RequestBodyWriter: pieces of a turn", () => {
  it("small pieces of a request body leave in one write with the head at the end of the turn", async () => {
    const { body, written } = writerOf(undefined);
    body.push("ab");
    body.push(Buffer.from("\xe9c", "latin1"));
    expect(written).to.deep.equal([]);
    await endOfTurn();
    expect(written).to.deep.equal([`${head}2\r\nab\r\n2\r\n\xe9c\r\n`]);
    body.push("d");
    body.end(["Sum", "1"]);
    expect(written.slice(1)).to.deep.equal(["1\r\nd\r\n0\r\nSum: 1\r\n\r\n"]);
    await endOfTurn();
    expect(written.length).to.equal(2);
  });

  it("the last piece of a request body leaves at once, with those before it", () => {
    const { body, written, writer } = writerOf(10_000);
    const piece = Buffer.alloc(5000, "x");
    body.push(piece);
    expect(written).to.deep.equal([]);
    expect(writer.complete).to.equal(false);
    piece.fill("y");
    body.push(piece);
    expect(writer.complete).to.equal(true);
    expect(written).to.deep.equal([head + "x".repeat(5000) + "y".repeat(5000)]);
  });

  it("a large piece of a request body leaves at once, in its order", async () => {
    const { body, written } = writerOf(1_000_000);
    const large = Buffer.alloc(66_000, "x");
    body.push(large);
    body.push("y");
    body.push(large);
    expect(written).to.deep.equal([head + large.toString(), `y${large.toString()}`]);
    await endOfTurn();
    expect(written.length).to.equal(2);
  });

  it("the head of a request whose body has no piece in its first turn is written at the end of that turn", async () => {
    const { written } = writerOf(10);
    await endOfTurn();
    expect(written).to.deep.equal([head]);
  });

  it("pieces that were put together are not written when the request is given up in the same turn", async () => {
    const aborted = writerOf(100);
    aborted.body.push("ab");
    aborted.body.abort("client-closed");
    const stopped = writerOf(100);
    stopped.body.push("ab");
    stopped.writer.stop();
    await endOfTurn();
    expect(aborted.failures).to.deep.equal(["client closed"]);
    expect([...aborted.written, ...stopped.written]).to.deep.equal([]);
  });

  it("pieces wait for the end of the turn only while few requests of the thread have some that do", async () => {
    const writers = Array.from({ length: 70 }, () => writerOf(100));
    for (const { body } of writers) body.push("ab");
    expect(writers.filter(({ written }) => written.length > 0).length).to.equal(6);
    await endOfTurn();
    for (const { written } of writers) expect(written).to.deep.equal([`${head}ab`]);
    const later = writerOf(100);
    later.body.push("ab");
    expect(later.written).to.deep.equal([]);
    await endOfTurn();
  });

  it("memory of pieces that the system has not taken is not written over", async () => {
    const transport = new Writes();
    const lent: Buffer[] = [];
    transport.lendBytes = (bytes) => void lent.push(bytes);
    writerOf(100, transport).body.push("ab");
    await endOfTurn();
    const others = writerOf(100);
    others.body.push("cd");
    await endOfTurn();
    expect(lent.map(String)).to.deep.equal([`${head}ab`]);
    expect(others.written).to.deep.equal([`${head}cd`]);
  });

  it("pieces are written one by one while others wait for the system", async () => {
    const transport = new Writes();
    const { body, written } = writerOf(1_000_000, transport);
    transport.isFull = true;
    body.push("ab");
    await endOfTurn();
    expect(transport.waitingBytes).to.equal(head.length + 2);
    body.push("cd");
    expect(written).to.deep.equal([`${head}ab`, "cd"]);
  });
});
