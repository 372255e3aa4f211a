import type { LogOutput } from "@svc-gateway/common/telemetry/log-sink.ts";
import { LogRingReader, type LogWake } from "./log-ring.ts";

/** How long the supervisor waits for more lines after a worker has woken it, in milliseconds. */
const gatherMs = 100;

/** The maximum number of bytes per write, except for a single line that is longer. */
const pieceBytes = 128 * 1024;

/** The maximum number of buffers that are kept for reuse: as many as a busy worker fills within `gatherMs`. */
const maxSpare = 16;

/**
 * Writes the log lines of all workers. Nothing runs while there are none: the first line after a pause wakes the
 * supervisor, which writes it together with all lines of the following `gatherMs`.
 */
export class LogDrain {
  private readonly rings: readonly LogRingReader[];
  private readonly sink: LogOutput;
  private timer: NodeJS.Timeout | undefined;
  /** Buffers for reuse: allocating new ones for all lines would cause garbage collections. */
  private readonly spare: Buffer[] = [];
  private readonly atExit = (): void => {
    this.takeAll();
    this.sink.flushSync();
  };

  /** Creates a drain, which also writes the lines that are in the rings when the process exits. */
  constructor(rings: readonly SharedArrayBuffer[], sink: LogOutput) {
    this.rings = rings.map((memory) => new LogRingReader(memory));
    this.sink = sink;
    process.on("exit", this.atExit);
  }

  /** Called when a worker has written lines. */
  wake(worker: number, when: LogWake): void {
    if (when === "now") this.take(worker);
    else this.timer ??= setTimeout(() => this.takeAll(), gatherMs).unref();
  }

  /** Writes the lines that a worker has put into its ring so far. */
  take(worker: number): void {
    this.rings[worker]?.take((lines) => this.write(lines), pieceBytes);
  }

  /** Writes the remaining lines, after all workers have ended. The sink stays open for its other users. */
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
