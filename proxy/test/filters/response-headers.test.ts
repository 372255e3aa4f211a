import { expect } from "chai";
import { responseHeadersFilter } from "../../src/filters/response-headers.ts";
import { exchange } from "./support.ts";

describe("the response-headers filter", () => {
  it("response-headers: response headers are set, added and removed, and requests are not changed", () => {
    const filter = responseHeadersFilter({
      set: [{ name: "X-A", value: "1" }],
      add: [{ name: "Set-Cookie", value: "b=2" }],
      remove: ["Server"],
    });
    const headers = ["server", "x", "x-a", "0", "set-cookie", "a=1"];
    filter.onResponse?.(exchange(), { status: 200, headers, length: 0, bodyless: false });
    expect(headers).to.deep.equal(["set-cookie", "a=1", "X-A", "1", "Set-Cookie", "b=2"]);
    expect(filter.onRequest).to.equal(undefined);
  });
});
