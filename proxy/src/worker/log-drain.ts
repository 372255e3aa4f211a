import type { LogOutput } from "@svc-gateway/common/telemetry/log-sink.ts";
import { LogRingReader, type LogWake } from "./log-ring.ts";

/** How long the supervisor lets lines gather after a worker has woken it, in milliseconds. */
const gatherMs = 100;

/** The most bytes that are written at once, unless a single line is longer. */
const pieceBytes = 128 * 1024;

/** How many pieces of memory are kept for the next lines: as many as a busy worker fills while lines gather. */
const maxSpare = 16;

/**
 * Writes the lines of all workers. Nothing runs while there are none: the first line after a pause wakes the supervisor,
 * and it takes that with all that have come within `gatherMs`.
 */
export class LogDrain {
  private readonly rings: readonly LogRingReader[];
  private readonly sink: LogOutput;
  private timer: NodeJS.Timeout | undefined;
  /** Used again and again: new memory for all lines would have the collector run for nothing else. */
  private readonly spare: Buffer[] = [];
  private readonly atExit = (): void => {
    this.takeAll();
    this.sink.flushSync();
  };

  /** Also writes what is in the rings when the process exits. */
  constructor(rings: readonly SharedArrayBuffer[], sink: LogOutput) {
    this.rings = rings.map((memory) => new LogRingReader(memory));
    this.sink = sink;
    process.on("exit", this.atExit);
  }

  /** A worker has written lines. */
  wake(worker: number, when: LogWake): void {
    if (when === "now") this.take(worker);
    else this.timer ??= setTimeout(() => this.takeAll(), gatherMs).unref();
  }

  /** Writes what a worker has written so far. */
  take(worker: number): void {
    this.rings[worker]?.take((lines) => this.write(lines), pieceBytes);
  }

  /** Writes what is left, when all workers have ended. The sink stays open for its other users. */
  close(): void {
    this.takeAll();
    process.removeListener("exit", this.atExit);
  }

  private takeAll(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const worker of this.rings.keys()) this.take(worker);
  }

  private write(lines: Buffer): void {
    if (lines.length > pieceBytes) {
      this.sink.write(Buffer.from(lines));
      return;
    }
    const memory = this.spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
    lines.copy(memory);
    const release = (): void => {
      if (this.spare.length < maxSpare) this.spare.push(memory);
    };
    if (!this.sink.write(memory.subarray(0, lines.length), release)) release();
  }
}
