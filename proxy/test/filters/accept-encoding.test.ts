import { expect } from "chai";
import { readAcceptEncoding } from "../../src/filters/accept-encoding.ts";

describe("Accept-Encoding", () => {
  for (const [value, gzip, br] of [
    ["", false, false],
    ["gzip", true, false],
    ["GZip, BR", true, true],
    ["x-gzip", true, false],
    ["deflate, zstd", false, false],
    ["gzip;q=0.001, br;q=1", true, true],
    ["gzip;q=0, br;q=0.0", false, false],
    ["gzip ; Q = 0.000 , br", false, true],
    ["gzip;q=no", false, false],
    ["gzip;foo=0;q=0.5", true, false],
    ["*", true, true],
    ["*;q=0", false, false],
    ["br;q=0, *", true, false],
    ["*;q=0, gzip", true, false],
    ["identity;q=0", false, false],
    [",, gzip ,", true, false],
    ["gzipped, brx", false, false],
  ] as const) {
    it(`Accept-Encoding ${JSON.stringify(value)} ${gzip ? "accepts" : "refuses"} gzip and ${br ? "accepts" : "refuses"} br`, () =>
      expect(readAcceptEncoding(value)).to.deep.equal({ gzip, br }));
  }
});
