import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { LogOutput } from "@svc-gateway/common/telemetry/log-sink.ts";
import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { LogDrain } from "../../src/worker/log-drain.ts";
import { createLogRing, LogRingWriter } from "../../src/worker/log-ring.ts";
import { createWorkerSink } from "../../src/worker/worker-sink.ts";

/** An output that has not written anything yet, until it is asked to. */
function slowOutput() {
  const waiting: { readonly lines: Uint8Array; readonly onWritten: () => void }[] = [];
  let written = "";
  let isBlocked = false;
  const output: LogOutput = {
    write(lines, onWritten = () => {}) {
      if (isBlocked) return false;
      waiting.push({ lines: typeof lines === "string" ? Buffer.from(lines) : lines, onWritten });
      return true;
    },
    droppedLines: () => 0,
    isCongested: () => isBlocked,
    flushSync: () => {},
    close: () => Promise.resolve(),
  };
  return {
    output,
    waiting,
    block: (next: boolean) => (isBlocked = next),
    /** Writes the waiting lines like an output: with the content that their memory has at this time. */
    writeAll(): string {
      for (const { lines, onWritten } of waiting.splice(0)) {
        written += Buffer.from(lines).toString();
        onWritten();
      }
      return written;
    },
  };
}

function setUp(workers: number) {
  const rings = Array.from({ length: workers }, () => createLogRing(1024 * 1024));
  const slow = slowOutput();
  const drain = new LogDrain(rings, slow.output);
  const sinks = rings.map((ring, worker) =>
    createWorkerSink(new LogRingWriter(ring, (when) => drain.wake(worker, when))),
  );
  return { drain, sinks, ...slow };
}

describe("the log drain of the supervisor", () => {
  it("lines that one piece of memory was used for do not change before they are written", () => {
    const { drain, sinks, writeAll } = setUp(1);
    let expected = "";
    for (let i = 0; i < 50; i++) {
      const line = `${i} ${"x".repeat(i)}\n`;
      expected += line;
      sinks[0]?.write(line);
      drain.take(0);
      if (i % 7 === 0) expect(writeAll()).to.equal(expected);
    }
    expect(writeAll()).to.equal(expected);
    drain.close();
  });

  it("lines of all workers are written a while after the first of them", async () => {
    const { drain, sinks, waiting, writeAll } = setUp(2);
    sinks[1]?.write("b\n");
    sinks[0]?.write("a\n");
    // The timer of the drain does not keep a process alive.
    const keepAlive = setTimeout(() => {}, 60_000);
    await until(() => waiting.length === 2, "both lines");
    clearTimeout(keepAlive);
    expect(writeAll()).to.equal("a\nb\n");
    drain.close();
  });

  it("lines are written at once when many are waiting", () => {
    const { drain, sinks, waiting } = setUp(1);
    const line = `${"x".repeat(1023)}\n`;
    for (let i = 0; i < 300; i++) expect(sinks[0]?.write(line)).to.equal(true);
    expect(waiting.length).to.be.above(1);
    drain.close();
  });

  it("lines that find no room are counted by the worker that wrote them", () => {
    const line = `${"x".repeat(511)}\n${"x".repeat(511)}\n`;
    const sink = createWorkerSink(new LogRingWriter(createLogRing(10 * 1024), () => {}));
    const accepted = Array.from({ length: 15 }, () => sink.write(line));
    expect(accepted.filter(Boolean)).to.have.length(10);
    expect([sink.droppedLines(), sink.isCongested()]).to.deep.equal([10, true]);
  });

  it("lines that the output refuses leave room for the next ones", () => {
    const { drain, sinks, writeAll, block } = setUp(1);
    block(true);
    sinks[0]?.write("refused\n");
    drain.take(0);
    block(false);
    sinks[0]?.write("taken\n");
    drain.close();
    expect(writeAll()).to.equal("taken\n");
  });

  it("a line that is longer than a piece of memory is written whole", () => {
    const { drain, sinks, writeAll } = setUp(1);
    const line = `${"y".repeat(300 * 1024)}\n`;
    sinks[0]?.write("before\n");
    sinks[0]?.write(line);
    sinks[0]?.write("after\n");
    drain.close();
    expect(writeAll()).to.equal(`before\n${line}after\n`);
  });

  it("lines that are in a ring when the process exits are written", async () => {
    const [drain, ring, sink] = [
      "../../src/worker/log-drain.ts",
      "../../src/worker/log-ring.ts",
      "../../../common/src/telemetry/log-sink.ts",
    ].map((path) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url))));
    const program = `
      import { LogDrain } from ${drain};
      import { createLogRing, LogRingWriter } from ${ring};
      import { createLogSink } from ${sink};
      const memory = createLogRing();
      const log = new LogDrain([memory], createLogSink({ fd: 1 }));
      new LogRingWriter(memory, (when) => log.wake(0, when)).write("the last line\\n");
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout).to.equal("the last line\n");
  });
});
