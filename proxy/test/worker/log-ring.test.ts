import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import fc from "fast-check";
import { createLogRing, LogRingReader, LogRingWriter, type LogWake } from "../../src/worker/log-ring.ts";
import { numberedLine, type WriterPlan } from "./log-writer-thread.ts";

const room = 1_000;

function ringOf(bytes: number) {
  const memory = createLogRing(bytes);
  const wakes: LogWake[] = [];
  const reader = new LogRingReader(memory);
  const pieces: string[] = [];
  return {
    memory,
    wakes,
    pieces,
    writer: new LogRingWriter(memory, (when) => void wakes.push(when)),
    /** Takes the waiting lines, in pieces of at most `pieceBytes`, and returns them joined. */
    take(pieceBytes = bytes): string {
      pieces.length = 0;
      reader.take((lines) => void pieces.push(lines.toString()), pieceBytes);
      return pieces.join("");
    },
  };
}

const program = new URL("./log-writer-thread.ts", import.meta.url);

/** Starts a thread that writes lines. At its end it reports the number of dropped ones. */
function writerThread(plan: WriterPlan, onWake: (when: LogWake) => void) {
  const thread = new Worker(program, { workerData: plan });
  const report = Promise.withResolvers<{ readonly dropped: number }>();
  thread.on("message", (message: LogWake | { readonly dropped: number }) => {
    if (typeof message === "object") report.resolve(message);
    else onWake(message);
  });
  return { thread, report: report.promise };
}

describe("a log ring", () => {
  it("a log ring gives back all lines that it took, in order, for any lengths", () => {
    const line = fc.string({ unit: "binary", maxLength: 30 }).map((text) => `${text.replaceAll("\n", "")}\n`);
    const longest = 4 * 30 + 1;
    const step = fc.oneof({ weight: 4, arbitrary: line }, { weight: 1, arbitrary: fc.constant(undefined) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { writer, take } = ringOf(room);
        let waiting = "";
        for (const text of steps) {
          if (text === undefined) {
            expect(take()).to.equal(waiting);
            waiting = "";
            continue;
          }
          const written = Buffer.from(text).toString();
          if (writer.write(text)) waiting += written;
          else {
            // What is lost at the end of the memory is less than a line.
            expect(Buffer.byteLength(waiting)).to.be.above(room - 2 * longest - 2);
          }
        }
        expect(take()).to.equal(waiting);
        expect(take()).to.equal("");
      }),
      { numRuns: 1_000, endOnFailure: true },
    );
  });

  it("a line that a full log ring refuses changes nothing, and a taken ring has room again", () => {
    const { writer, take } = ringOf(room);
    const line = `${"x".repeat(99)}\n`;
    const accepted = Array.from({ length: 15 }, () => writer.write(line));
    expect(accepted.filter(Boolean)).to.have.length(10);
    expect(writer.isCongested()).to.equal(true);
    expect(take()).to.equal(line.repeat(10));
    expect(writer.isCongested()).to.equal(false);
    expect(writer.write(line)).to.equal(true);
    expect(take()).to.equal(line);
  });

  it("a line that is longer than the log ring is refused", () => {
    const { writer, take } = ringOf(room);
    expect(writer.write(`${"x".repeat(room)}\n`)).to.equal(false);
    expect(writer.write("short\n")).to.equal(true);
    expect(take()).to.equal("short\n");
  });

  it("pieces of a log ring end where lines end, and a longer line is a piece of its own", () => {
    const { writer, take, pieces } = ringOf(room);
    for (const text of ["one\n", "two\n", `${"x".repeat(50)}\n`, "three\n", "four\n"]) writer.write(text);
    take(10);
    expect(pieces).to.deep.equal(["one\ntwo\n", `${"x".repeat(50)}\n`, "three\n", "four\n"]);
  });

  it("a log ring wakes its reader once until lines are taken, and again when many are waiting", () => {
    const { writer, take, wakes } = ringOf(room);
    for (let i = 0; i < 5; i++) writer.write("line\n");
    expect(wakes).to.deep.equal(["soon"]);
    for (let i = 0; i < 100; i++) writer.write("line\n");
    expect(wakes).to.deep.equal(["soon", "now"]);
    take();
    writer.write("line\n");
    expect(wakes).to.deep.equal(["soon", "now", "soon"]);
  });

  it("lines of a thread arrive whole and in order while both sides run, and the refused ones are counted", async () => {
    const ring = createLogRing(64 * 1024);
    const reader = new LogRingReader(ring);
    const lines = 300_000;
    let text = "";
    const take = (): void => reader.take((piece) => (text += piece.toString()), 16 * 1024);
    const { report } = writerThread({ ring, first: 0, lines }, take);
    // Wakes come late on a busy machine; the ring is read between them as well, so that both sides meet often.
    let isOver = false;
    const done = report.then((result) => ((isOver = true), result));
    while (!isOver) {
      take();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { dropped } = await done;
    take();
    const got = text.split("\n").slice(0, -1);
    expect(got).to.have.length(lines - dropped);
    let last = -1;
    for (const line of got) {
      const number = Number.parseInt(line, 10);
      expect(`${line}\n`).to.equal(numberedLine(number));
      expect(number).to.be.above(last);
      last = number;
    }
  });

  it("a thread that is terminated loses no line that it wrote, and its successor goes on in the same ring", async () => {
    const ring = createLogRing(16 * 1024 * 1024);
    const reader = new LogRingReader(ring);
    let text = "";
    const take = (): void => reader.take((piece) => (text += piece.toString()), 1024 * 1024);
    let next = 0;
    for (let round = 0; round < 4; round++) {
      const woken = Promise.withResolvers<void>();
      const { thread } = writerThread({ ring, first: next, lines: Number.MAX_SAFE_INTEGER }, () => {
        // Makes room, so that no line is refused before the thread ends.
        take();
        woken.resolve();
      });
      await woken.promise;
      await thread.terminate();
      take();
      const got = text.split("\n").slice(0, -1);
      expect(text.endsWith("\n")).to.equal(true);
      text = "";
      const numbers = got.map((line) => Number.parseInt(line, 10));
      got.forEach((line, index) => expect(`${line}\n`).to.equal(numberedLine(numbers[index] ?? -1)));
      expect(numbers[0]).to.equal(next);
      expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b));
      next = (numbers.at(-1) ?? 0) + 1;
    }
    expect(next).to.be.at.least(4);
  });

  it("a thread that has ended leaves the exit event after its lines", async () => {
    const ring = createLogRing();
    const { thread, report } = writerThread({ ring, first: 0, lines: 10 }, () => {});
    await Promise.all([report, once(thread, "exit")]);
    let text = "";
    new LogRingReader(ring).take((piece) => (text += piece.toString()), 1024);
    expect(text).to.equal(Array.from({ length: 10 }, (_, number) => numberedLine(number)).join(""));
  });
});
