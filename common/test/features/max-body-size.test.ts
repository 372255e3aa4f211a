import { expect } from "chai";
import { maxBodySizeSchema, parseMaxBodySize } from "../../src/features/max-body-size.ts";

describe("max-body-size", () => {
  const sizes: readonly [string, number][] = [
    ["0", 0],
    ["1", 1],
    ["512k", 512 * 1024],
    ["8M", 8 * 1024 ** 2],
    ["1g", 1024 ** 3],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ];
  for (const [text, maxBytes] of sizes) {
    it(`max-body-size: reads ${text}`, () => {
      expect(parseMaxBodySize(text)).to.deep.equal({ ok: true, value: { maxBytes } });
      expect(maxBodySizeSchema.parse({ maxBytes })).to.deep.equal({ maxBytes });
    });
  }

  for (const text of ["", "k", "-1", "1.5m", "1mb", "1 m", "0x10", "9007199254740992"]) {
    it(`max-body-size: rejects ${JSON.stringify(text)}`, () =>
      expect(parseMaxBodySize(text).ok).to.equal(false));
  }
});
