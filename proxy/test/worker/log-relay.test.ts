import { expect } from "chai";
import { createLogRelay, takeLines } from "../../src/worker/log-relay.ts";

describe("the log relay of a worker", () => {
  const line = `${"x".repeat(1024 * 1024 - 1)}\n`;

  it("the log relay drops and counts lines that the supervisor does not take, and recovers", () => {
    const waiting = new Int32Array(new SharedArrayBuffer(8));
    const sent: string[] = [];
    const relay = createLogRelay((lines) => void sent.push(lines), waiting, 1);
    expect([1, 2, 3, 4].map(() => relay.write(line))).to.deep.equal([true, true, true, true]);
    expect([relay.write(`${line}${line}`), relay.isCongested()]).to.deep.equal([false, true]);
    expect([sent.length, relay.droppedLines()]).to.deep.equal([4, 2]);
    const written: string[] = [];
    for (const lines of sent) {
      takeLines({ ...relay, write: (text) => (written.push(text), true) }, lines, waiting, 1);
    }
    expect(written).to.deep.equal(sent);
    expect([relay.isCongested(), relay.write(line)]).to.deep.equal([false, true]);
    expect(waiting[0]).to.equal(0);
  });
});
