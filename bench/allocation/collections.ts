type Sums = { bytes: number; count: number; pauseMs: number };

/**
 * Matches a line of `--trace-gc-nvp`: the isolate, the pause in milliseconds, and the bytes allocated since the
 * previous collection.
 */
const collection = /^\[\d+:(0x[\da-f]+).*?\bpause=([\d.]+).*?\ballocated=(\d+)/;

/** Counts the garbage collections of a process by isolate, from the output of V8 with `--trace-gc-nvp`. */
export class Collections {
  private readonly byIsolate = new Map<string, Sums>();
  private rest = "";

  read(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.add(line);
  }

  /** Resets the counts. */
  forget(): void {
    this.byIsolate.clear();
  }

  /** The sums of the isolate that allocated the most bytes, which is the worker. */
  ofBusiest(): Sums {
    const sorted = [...this.byIsolate.values()].toSorted((a, b) => b.bytes - a.bytes);
    return sorted[0] ?? { bytes: 0, count: 0, pauseMs: 0 };
  }

  private add(line: string): void {
    const [, isolate, pause, allocated] = collection.exec(line) ?? [];
    if (isolate === undefined) return;
    const sums = this.byIsolate.get(isolate) ?? { bytes: 0, count: 0, pauseMs: 0 };
    sums.bytes += Number(allocated);
    sums.pauseMs += Number(pause);
    sums.count++;
    this.byIsolate.set(isolate, sums);
  }
}
