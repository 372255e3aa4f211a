type Sums = { bytes: number; count: number; pauseMs: number };

/** Isolate, length of the pause in milliseconds and bytes allocated since the last collection, of a line of `--trace-gc-nvp`. */
const collection = /^\[\d+:(0x[\da-f]+).*?\bpause=([\d.]+).*?\ballocated=(\d+)/;

/** The collections of a process by isolate, out of what V8 writes with `--trace-gc-nvp`. */
export class Collections {
  private readonly byIsolate = new Map<string, Sums>();
  private rest = "";

  read(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.add(line);
  }

  /** Begins to count from here on. */
  forget(): void {
    this.byIsolate.clear();
  }

  /** What the isolate that allocated most did: the worker. */
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
