import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs, { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { createLogSink } from "../../src/telemetry/log-sink.ts";
import { until } from "../until.ts";

const modulePath = fileURLToPath(new URL("../../src/telemetry/log-sink.ts", import.meta.url));

/** The limits of a sink that may be paused together with its reader, because the machine is busy. */
const patient = { stallMs: 60_000, totalMs: 60_000 };

/** Runs a program that writes through a sink on standard output; its output on standard error is its report. */
const run = (program: string, output: "pipe" | number = "pipe"): ChildProcessWithoutNullStreams =>
  spawn(
    process.execPath,
    ["--input-type=module", "-e", `import { createLogSink } from ${JSON.stringify(modulePath)};\n${program}`],
    { stdio: ["ignore", output, "pipe"] },
  ) as ChildProcessWithoutNullStreams;

const textOf = async (stream: NodeJS.ReadableStream): Promise<string> => {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
};

/** Makes writes fail as on a disk with limited room: the last write is partial, and all later ones fail. */
class FullDisk {
  room: number;
  refusals = 0;
  private readonly write = fs.write;

  constructor(room: number) {
    this.room = room;
    const limited = (to: number, bytes: Buffer, done: (error: unknown, count?: number) => void): void => {
      const count = Math.min(this.room, bytes.length);
      this.room -= count;
      if (count > 0) return this.write(to, bytes, 0, count, done);
      this.refusals++;
      setImmediate(() => done(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })));
    };
    Object.assign(fs, { write: limited });
  }

  restore(): void {
    Object.assign(fs, { write: this.write });
  }
}

describe("log sink", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sink-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("every line is written in order before close resolves", async () => {
    const file = join(folder, "log");
    const fd = openSync(file, "w");
    const sink = createLogSink({ fd, endLimits: patient });
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index} é\n`);
    for (const line of lines) expect(sink.write(line)).to.equal(true);
    await sink.close();
    closeSync(fd);
    expect(readFileSync(file, "utf8")).to.equal(lines.join(""));
    expect(sink.droppedLines()).to.equal(0);
  });

  it("a full disk costs lines and nothing else, and once there is room the others follow, none of them torn", async () => {
    const file = join(folder, "log");
    const fd = openSync(file, "w");
    const disk = new FullDisk(1500);
    try {
      const sink = createLogSink({ fd, maxBufferedBytes: 4096 });
      const taken: string[] = [];
      const put = (index: number): void => {
        const line = `line ${index} ${"x".repeat(100)}\n`;
        if (sink.write(line)) taken.push(line);
      };
      for (let index = 0; index < 100; index++) put(index);
      await until(() => disk.refusals > 0, "a write that is refused");
      // Writes until there is no room for another line.
      let next = 100;
      while (taken.at(-1)?.startsWith(`line ${next - 1} `) === true || next === 100) put(next++);
      expect(sink.droppedLines())
        .to.equal(next - taken.length)
        .and.to.be.greaterThan(0);
      disk.room = Number.POSITIVE_INFINITY;
      await until(() => {
        put(next);
        return taken.at(-1)?.startsWith(`line ${next++} `) === true;
      }, "lines that are taken again");
      await until(() => readFileSync(file, "utf8").length === taken.join("").length, "all lines");
      expect(readFileSync(file, "utf8")).to.equal(taken.join(""));
    } finally {
      disk.restore();
      closeSync(fd);
    }
  });

  for (const [what, room] of [
    ["counts the lines that a full disk refuses again", 0],
    ["writes the lines that a full disk has refused once there is room", Number.POSITIVE_INFINITY],
  ] as const) {
    it(`a sink that is closed ${what}`, async () => {
      const file = join(folder, "log");
      const fd = openSync(file, "w");
      const disk = new FullDisk(7);
      try {
        const sink = createLogSink({ fd, endLimits: patient });
        const lines = ["one 1\n", "two 2\n", "three 3\n"];
        for (const line of lines) sink.write(line);
        await until(() => disk.refusals > 0, "a write that is refused");
        disk.room = room;
        await sink.close();
        expect(sink.droppedLines()).to.equal(room === 0 ? 2 : 0);
        expect(readFileSync(file, "utf8")).to.equal(room === 0 ? "one 1\nt" : lines.join(""));
      } finally {
        disk.restore();
        closeSync(fd);
      }
    });
  }

  it("waiting lines are written when the process exits", async () => {
    const child = run(`
      const sink = createLogSink({ fd: 1 });
      sink.write("one\\n"); sink.write("two\\n");
      process.exit(0);`);
    const [output] = await Promise.all([textOf(child.stdout), once(child, "exit")]);
    expect(output.split("\n").toSorted()).to.deep.equal(["", "one", "two"]);
  });

  it("whole lines are dropped and counted while the reader is blocked, and written again later", async () => {
    const child = run(`
      const sink = createLogSink({ fd: 1, maxBufferedBytes: 64 * 1024, endLimits: ${JSON.stringify(patient)} });
      const line = "x".repeat(1023) + "\\n";
      let taken = 0;
      for (let round = 0; round < 100; round += 1) {
        for (let i = 0; i < 20; i += 1) if (sink.write(line + line)) taken += 2;
        await new Promise((resolve) => setImmediate(resolve));
      }
      process.once("SIGUSR2", async () => {
        await sink.close();
        process.stderr.write(JSON.stringify({ congested: sink.isCongested(), accepts: sink.write("end\\n") }));
        await sink.close();
        process.exit(0);
      });
      process.stderr.write(JSON.stringify({ taken, dropped: sink.droppedLines(), congested: sink.isCongested() }) + "\\n");
      setInterval(() => {}, 1000);`);
    let reports = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (reports += text));
    await until(() => reports.includes("\n"), "the report");
    const report = JSON.parse(reports) as { taken: number; dropped: number; congested: boolean };
    expect(report.taken + report.dropped).to.equal(4000);
    // The amount that fits into the pipe, which depends on the machine, and 64 KiB in the sink.
    expect(report.taken).to.be.within(60, 3000);
    expect(report.congested).to.equal(true);
    child.kill("SIGUSR2");
    const [output] = await Promise.all([textOf(child.stdout), once(child, "close")]);
    expect(output.split("\n").filter((text) => text.length === 1023)).to.have.length(report.taken);
    expect(output.endsWith("\nend\n")).to.equal(true);
    expect(JSON.parse(reports.split("\n")[1] ?? "")).to.deep.equal({ congested: false, accepts: true });
  });

  /** A pipe whose reader accepts nothing. */
  const unreadPipe = (): number => {
    const path = join(folder, "pipe");
    execFileSync("sh", ["-c", 'mkfifo "$0"', path]);
    return openSync(path, "r+");
  };

  for (const [how, ends] of [
    // Once the pipe is full, no thread is about to write a piece that the sink gives up.
    [
      "in order",
      "while (!isFull) await new Promise((resolve) => setImmediate(resolve)); await sink.close();",
    ],
    ["at once", ""],
  ] as const) {
    it(`a process that ends ${how} does so while its output is not read, and counts each line as taken or dropped`, async () => {
      const pipe = unreadPipe();
      const child = run(
        `
        import fs from "node:fs";
        let isFull = false;
        const { write } = fs;
        fs.write = (fd, bytes, done) =>
          write(fd, bytes, (error, count) => {
            isFull ||= error !== null;
            done(error, count);
          });
        const sink = createLogSink({ fd: 1, maxBufferedBytes: 512 * 1024, endLimits: { stallMs: 20, totalMs: 60_000 } });
        const line = "x".repeat(1023) + "\\n";
        for (let i = 0; i < 1000; i += 1) sink.write(line);
        const full = sink.droppedLines();
        process.on("exit", () => process.stderr.write(JSON.stringify({ full, dropped: sink.droppedLines() })));
        ${ends}
        process.exit(0);`,
        pipe,
      );
      const [report, [code]] = await Promise.all([
        textOf(child.stderr),
        once(child, "exit") as Promise<[number]>,
      ]);
      expect(code).to.equal(0);
      const { full, dropped } = JSON.parse(report) as { full: number; dropped: number };
      const held = Buffer.alloc(1024 * 1024);
      const bytes = readSync(pipe, held);
      closeSync(pipe);
      expect(full).to.equal(1000 - 512);
      expect(bytes).to.be.greaterThan(0);
      // A line that is partly in the pipe counts as dropped, and so can the one that is being written at the end.
      const written = Math.floor(bytes / 1024);
      expect(1000 - dropped).to.be.within(written - 1, written);
    });
  }

  it("the process survives a reader that closes the pipe", async () => {
    const child = run(`
      const sink = createLogSink({ fd: 1, maxBufferedBytes: 1024 });
      let rounds = 0;
      const timer = setInterval(() => {
        sink.write("x".repeat(99) + "\\n");
        rounds += 1;
        if (sink.droppedLines() > 3 || rounds > 2000) {
          clearInterval(timer);
          process.stderr.write(sink.droppedLines() > 3 ? "alive" : "nothing dropped");
        }
      }, 1);`);
    child.stdout.destroy();
    const [report, [code]] = await Promise.all([
      textOf(child.stderr),
      once(child, "exit") as Promise<[number]>,
    ]);
    expect(report).to.equal("alive");
    expect(code).to.equal(0);
  });
});
