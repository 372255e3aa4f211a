import { expect } from "chai";
import { ReceiveWindow } from "../../src/http2/connection/receive-window.ts";

const maxBytes = 1_048_576;

/** A window of which `stuckBytes` have arrived that is not accepted. */
function windowWith(stuckBytes: number): ReceiveWindow {
  const window = new ReceiveWindow(maxBytes);
  window.open();
  expect(window.receive(stuckBytes)).to.equal(true);
  return window;
}

describe("ReceiveWindow", () => {
  it("a window is renewed when half of it has been accepted", () => {
    const window = windowWith(0);
    expect(window.receive(maxBytes / 2)).to.equal(true);
    expect(window.take(maxBytes / 2 - 1)).to.equal(0);
    expect(window.take(1)).to.equal(maxBytes / 2);
  });

  for (const stuckBytes of [maxBytes / 2, maxBytes - 100_000, maxBytes - 1]) {
    it(`a window lets content pass without end beside ${stuckBytes} bytes that is not accepted`, () => {
      const window = windowWith(stuckBytes);
      let allowed = maxBytes - stuckBytes;
      for (let i = 0; i < 1000; i++) {
        const piece = Math.min(allowed, 16_384);
        expect(piece, `piece ${i}`).to.be.above(0);
        expect(window.receive(piece)).to.equal(true);
        allowed += window.take(piece) - piece;
      }
    });
  }
});
