import { expect } from "chai";
import { responseHeadersFilter } from "../../src/filters/response-headers.ts";
import { exchange } from "./support.ts";
import { Fields } from "../../src/message/fields.ts";

describe("the response-headers filter", () => {
  it("response-headers: response headers are set, added and removed, and requests are not changed", () => {
    const filter = responseHeadersFilter({
      set: [{ name: "X-A", value: "1" }],
      add: [{ name: "Set-Cookie", value: "b=2" }],
      remove: ["Server"],
    });
    const headers = Fields.of(["server", "x", "x-a", "0", "set-cookie", "a=1"]);
    filter.onResponse?.(exchange(), { status: 200, headers, length: 0, bodyless: false });
    expect(headers.toList()).to.deep.equal(["set-cookie", "a=1", "X-A", "1", "Set-Cookie", "b=2"]);
    expect(filter.onRequest).to.equal(undefined);
  });

  it("response-headers: the id of the request replaces a field of the backend, and other changes come after it", () => {
    const respond = (remove: readonly string[]) => {
      const one = exchange();
      one.requestId = "0123";
      const headers = Fields.of(["x-request-id", "of the backend", "x", "1"]);
      const filter = responseHeadersFilter({ requestId: "X-Request-ID", remove });
      filter.onResponse?.(one, { status: 200, headers, length: 0, bodyless: false });
      return headers.toList();
    };
    expect(respond([])).to.deep.equal(["x", "1", "X-Request-ID", "0123"]);
    expect(respond(["x-request-id"])).to.deep.equal(["x", "1"]);
  });

  it("response-headers: fields for TLS replace those of the backend on responses over TLS only, and can be removed", () => {
    const setOverTls = [{ name: "Strict-Transport-Security", value: "max-age=1" }];
    const respond = (secure: boolean, remove: string[]) => {
      const headers = Fields.of(["strict-transport-security", "max-age=9", "x", "1"]);
      const filter = responseHeadersFilter({ setOverTls, remove });
      filter.onResponse?.(exchange({ secure }), {
        status: 200,
        headers,
        length: 0,
        bodyless: false,
      });
      return headers.toList();
    };
    expect(respond(true, [])).to.deep.equal(["x", "1", "Strict-Transport-Security", "max-age=1"]);
    expect(respond(false, [])).to.deep.equal(["strict-transport-security", "max-age=9", "x", "1"]);
    expect(respond(true, ["strict-transport-security"])).to.deep.equal(["x", "1"]);
  });
});
