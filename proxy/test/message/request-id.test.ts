import { expect } from "chai";
import { newRequestId } from "../../src/message/request-id.ts";

describe("newRequestId", () => {
  it("an id of a request has 32 hexadecimal digits and differs from all others", () => {
    const ids = Array.from({ length: 2_000 }, newRequestId);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{32}$/);
    expect(new Set(ids).size).to.equal(ids.length);
  });
});
