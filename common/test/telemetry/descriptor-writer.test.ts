import fs from "node:fs";
import { expect } from "chai";
import fc from "fast-check";
import { DescriptorWriter } from "../../src/telemetry/descriptor-writer.ts";
import { until } from "../until.ts";

type Done = (error: unknown, count?: number) => void;

const failed = (code: string): Error => Object.assign(new Error(code), { code });

/** A descriptor that accepts a set number of bytes of each write, or fails it with an error such as `EAGAIN`. */
class Output {
  readonly fd = 987;
  text = "";
  writes = 0;
  /** The results of the next writes; later writes accept all bytes. */
  readonly plan: (number | string)[] = [];
  readonly seen: Buffer[] = [];
  private readonly original = { write: fs.write, writeSync: fs.writeSync };

  constructor() {
    const write = (fd: number, bytes: Buffer, done: Done): void => {
      if (fd !== this.fd) return this.original.write(fd, bytes, done as never);
      this.seen.push(bytes);
      setImmediate(() => {
        try {
          done(null, this.take(bytes));
        } catch (error) {
          done(error);
        }
      });
    };
    const writeSync = (fd: number, bytes: Buffer): number =>
      fd === this.fd ? this.take(bytes) : this.original.writeSync(fd, bytes);
    Object.assign(fs, { write, writeSync });
  }

  private take(bytes: Buffer): number {
    this.writes++;
    const next = this.plan.shift() ?? bytes.length;
    if (typeof next === "string") throw failed(next);
    const count = Math.min(next, bytes.length);
    this.text += bytes.toString("latin1", 0, count);
    return count;
  }

  restore(): void {
    Object.assign(fs, this.original);
  }
}

describe("DescriptorWriter", () => {
  let output: Output;
  beforeEach(() => {
    output = new Output();
  });
  afterEach(() => output.restore());

  it("bytes are written whole and in order, also where the system takes parts, and each is reported once", async () => {
    const piece = fc.record({
      size: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(40_000, 65_536, 70_000)),
      pause: fc.boolean(),
    });
    const part = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(65_536, 50_000));
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 30 }),
        fc.array(part, { maxLength: 30 }),
        async (pieces, parts) => {
          output.text = "";
          output.plan.splice(0, Infinity, ...parts);
          const writer = new DescriptorWriter(output.fd, () => true);
          const written: number[] = [];
          let expected = "";
          for (const [index, { size, pause }] of pieces.entries()) {
            const text = String.fromCharCode(97 + (index % 26)).repeat(size);
            expected += text;
            const bytes = Buffer.from(text);
            // The caller can reuse its memory now.
            writer.write(bytes, () => written.push(index) && bytes.fill(0));
            if (pause) await new Promise((resolve) => setImmediate(resolve));
          }
          await new Promise<void>((resolve) => writer.settled(resolve));
          expect(output.text === expected, "the same bytes").to.equal(true);
          expect(written).to.deep.equal(pieces.map((_, index) => index));
          expect(writer.waitingBytes).to.equal(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("a large piece is written from where it is, and small ones together", async () => {
    const writer = new DescriptorWriter(output.fd, () => true);
    const large = Buffer.alloc(100_000, "l");
    writer.write(large);
    for (let index = 0; index < 100; index++) writer.write(Buffer.from(`small ${index}\n`));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect(output.seen[0]?.buffer).to.equal(large.buffer);
    expect(output.seen).to.have.lengthOf(2);
  });

  it("a descriptor without room is tried again, while that is wished", async () => {
    let isPatient = true;
    const asked: number[] = [];
    const writer = new DescriptorWriter(output.fd, (waitingBytes) => {
      asked.push(waitingBytes);
      return isPatient;
    });
    output.plan.push(3, "EAGAIN", "EAGAIN");
    writer.write(Buffer.from("seven 7"));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect(output.text).to.equal("seven 7");
    expect(asked).to.deep.equal([4, 4]);
    output.plan.push("EAGAIN", "EAGAIN");
    isPatient = false;
    writer.write(Buffer.from("more"));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect([output.text, writer.waitingBytes]).to.deep.equal(["seven 7", 4]);
    isPatient = true;
    writer.tryAgain();
    await until(() => writer.waitingBytes === 0, "the rest");
    expect(output.text).to.equal("seven 7more");
  });

  it("what a write has refused waits, and is written with what comes next", async () => {
    const writer = new DescriptorWriter(output.fd, () => true);
    output.plan.push(2, "ENOSPC");
    writer.write(Buffer.from("first "));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect([output.text, writer.waitingBytes]).to.deep.equal(["fi", 4]);
    writer.write(Buffer.from("second"));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect(output.text).to.equal("first second");
  });

  it("what was cleared is not written, and what comes after it is", async () => {
    const writer = new DescriptorWriter(output.fd, () => true);
    output.plan.push("ENOSPC");
    writer.write(Buffer.from("refused"));
    writer.write(Buffer.from("waiting"));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect(writer.clear().map(String)).to.deep.equal(["refused", "waiting"]);
    expect(writer.waitingBytes).to.equal(0);
    writer.write(Buffer.from("flying"));
    expect(writer.clear().map(String)).to.deep.equal(["flying"]);
    writer.write(Buffer.from("after"));
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect(output.text).to.equal("flyingafter");
    expect(writer.waitingBytes).to.equal(0);
  });

  it("bytes are written at once and whole beside a write that is under way, also where the system takes parts", async () => {
    const writer = new DescriptorWriter(output.fd, () => true);
    writer.write(Buffer.from("flying"));
    writer.write(Buffer.from("second"));
    writer.write(Buffer.from("third"));
    output.plan.push(1, 1, 20);
    writer.writeSync();
    expect(output.text).to.equal("secondthird");
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect([output.text, writer.waitingBytes]).to.deep.equal(["secondthirdflying", 0]);
  });

  it("what blocking writes do not bring out waits, none of it torn", async () => {
    const writer = new DescriptorWriter(output.fd, () => true);
    writer.write(Buffer.from("flying"));
    writer.write(Buffer.from("second"));
    output.plan.push(2, "EIO");
    expect(() => writer.writeSync()).to.throw("EIO");
    expect(output.text).to.equal("se");
    expect(writer.waitingBytes).to.equal("flying".length + "cond".length);
    await new Promise<void>((resolve) => writer.settled(resolve));
    expect(output.text).to.equal("seflyingcond");
  });
});
