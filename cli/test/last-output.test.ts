import { Writable } from "node:stream";
import { expect } from "chai";
import { lastOutput } from "../src/last-output.ts";

describe("lastOutput", () => {
  /** An output that accepts one write each time that `take` is called. */
  function openOutput(): { readonly output: Writable; take(): void } {
    const waiting: (() => void)[] = [];
    const output = new Writable({ write: (_chunk, _encoding, onTaken) => void waiting.push(onTaken) });
    return { output, take: () => waiting.shift()?.() };
  }

  it("a command that answers waits until a slow reader has taken everything", async () => {
    const { output, take } = openOutput();
    output.write("a long answer");
    let isRead = false;
    const end = lastOutput(output, undefined).then(() => (isRead = true));
    // A process that serves would have given up by then.
    await lastOutput(output, 1);
    expect(isRead).to.equal(false);
    for (let written = 0; written < 3; written++) {
      take();
      await new Promise(setImmediate);
    }
    await end;
    expect(isRead).to.equal(true);
  });

  it("a process that serves does not wait for a reader that reads nothing", async () => {
    const { output } = openOutput();
    output.write("a line of the log");
    await lastOutput(output, 1);
    expect(output.writableLength).to.be.greaterThan(0);
  });
});
