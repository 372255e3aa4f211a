import { expect } from "chai";
import { ResponseWrites } from "../../src/http/response-writes.ts";
import { ResponseMemory } from "../../src/http/response-memory.ts";

describe("what waits on a connection for its client", () => {
  it("a client that takes nothing is written a few pieces, however small they are, until it has taken them", () => {
    const written = { waitingBytes: 0, takenBytes: 0 };
    const memory = new ResponseMemory();
    let resumed = 0;
    const writes = new ResponseWrites(written, memory, 0, {
      resume: () => resumed++,
      leave: (reason) => expect.fail(reason),
    });
    const write = (): boolean => {
      written.waitingBytes++;
      return writes.mayWait();
    };
    const untilPaused = (): number => {
      let pieces = 1;
      while (write()) pieces++;
      return pieces;
    };
    const pieces = untilPaused();
    expect(pieces).to.be.within(32, 128);
    written.waitingBytes = 0;
    writes.drained();
    expect(resumed).to.equal(1);
    expect(untilPaused()).to.equal(pieces);
  });
});
