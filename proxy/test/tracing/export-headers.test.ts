import { expect } from "chai";
import { readExportHeaders } from "../../src/tracing/export/export-headers.ts";

describe("the file of headers for the collector", () => {
  it("each line is a header; comments and empty lines are left out", () => {
    const read = readExportHeaders("# for the collector\nAuthorization: Bearer a:b\r\n\nx-tenant:shop\n");
    expect(read.ok && read.value).to.deep.equal({ authorization: "Bearer a:b", "x-tenant": "shop" });
  });

  for (const [bad, number] of [
    ["secret", 1],
    ["a: b\nse cret: c", 2],
    [": secret", 1],
    ["a: b\u0000secret", 1],
  ] as const) {
    it(`a problem names the line and not its text: ${JSON.stringify(bad)}`, () => {
      const read = readExportHeaders(bad);
      expect(read.ok || read.error.message).to.equal(`line ${number} is not a header`);
    });
  }

  for (const name of ["Connection", "transfer-encoding", "TE", "Host", "Content-Type"]) {
    it(`${name} cannot be sent to the collector, which is said of its line`, () => {
      const read = readExportHeaders(`a: b\n${name}: secret\n`);
      expect(read.ok || read.error.message).to.equal("line 2 is about the connection or the message");
    });
  }
});
