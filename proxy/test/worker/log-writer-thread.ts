/** The program of a thread that writes numbered lines into a log ring as fast as it can. */
import { parentPort, workerData } from "node:worker_threads";
import { LogRingWriter } from "../../src/worker/log-ring.ts";

export type WriterPlan = {
  readonly ring: SharedArrayBuffer;
  /** The number of the first line, and how many lines there are; the line behind them is never reached by a thread that is terminated. */
  readonly first: number;
  readonly lines: number;
};

/** A line with its number and a length that follows from it, so that a torn one is noticed. */
export const numberedLine = (number: number): string =>
  `${number} ${"é".repeat((number * 7) % 50)} ${number}\n`;

if (parentPort !== null) {
  const port = parentPort;
  const { ring, first, lines } = workerData as WriterPlan;
  const writer = new LogRingWriter(ring, (when) => port.postMessage(when));
  let dropped = 0;
  for (let number = first; number < first + lines; number++) {
    if (!writer.write(numberedLine(number))) dropped++;
  }
  port.postMessage({ dropped });
}
