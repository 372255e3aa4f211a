import { expect } from "chai";
import { Socket } from "node:net";
import { IncomingRequest } from "../../../src/http/h1/node/incoming-request.ts";

const headersOf = (...rawHeaders: string[]): object => {
  const request = new IncomingRequest(new Socket());
  request.rawHeaders = rawHeaders;
  return request.headers;
};

describe("IncomingRequest", () => {
  it("IncomingRequest holds the fields that are looked up by name, in any case", () => {
    expect(
      headersOf(
        "Content-Length",
        "3",
        "transfer-encoding",
        "chunked",
        "EXPECT",
        "100-continue",
        "TE",
        "chunked",
      ),
    ).to.deep.equal({
      "content-length": "3",
      "transfer-encoding": "chunked",
      expect: "100-continue",
      te: "chunked",
    });
    expect(headersOf("Host", "a", "Upgrade", "websocket")).to.deep.equal({ upgrade: "websocket" });
  });

  it("IncomingRequest leaves out all other fields, also those of the same length", () => {
    const others = [
      "Host",
      "a",
      "Cookie",
      "b",
      "Referer",
      "c",
      "x-request-id-1",
      "d",
      "x-forwarded-proto",
      "e",
    ];
    expect(headersOf(...others)).to.deep.equal({});
  });

  it("IncomingRequest joins repeated fields, so that none hides another", () => {
    expect(headersOf("Upgrade", "h2c", "upgrade", "websocket")).to.deep.equal({ upgrade: "h2c, websocket" });
  });
});
