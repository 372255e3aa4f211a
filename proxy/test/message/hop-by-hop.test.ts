import { expect } from "chai";
import { connectionOptions, isHopByHop, withoutConnectionOptions } from "../../src/message/hop-by-hop.ts";

describe("hop-by-hop fields", () => {
  for (const name of [
    "Connection",
    "KEEP-ALIVE",
    "te",
    "Trailer",
    "Transfer-Encoding",
    "upgrade",
    "Proxy-Connection",
    "proxy-authenticate",
    "PROXY-x",
  ]) {
    it(`${name} is a hop-by-hop field`, () => expect(isHopByHop(name)).to.equal(true));
  }
  for (const name of [
    "ta",
    "Expires",
    "Set-Cookie",
    "X-Forwarded-Proto",
    "Proxy",
    "Proxy-",
    "Proxied-By",
    "p",
  ]) {
    it(`${name} is not a hop-by-hop field`, () => expect(isHopByHop(name)).to.equal(false));
  }

  it("the options of Connection are read in lower case, without spaces and empty ones", () => {
    expect(connectionOptions(" Close ,, X-A,\tkeep-alive ")).to.deep.equal(["close", "x-a", "keep-alive"]);
    expect(connectionOptions("")).to.deep.equal([]);
  });

  it("fields that Connection names are removed", () => {
    expect(withoutConnectionOptions(["X-A", "1", "B", "2", "x-a", "3"], ["x-a", "absent"])).to.deep.equal([
      "B",
      "2",
    ]);
  });

  it("the same list is returned when Connection names no field", () => {
    const headers = ["A", "1"];
    expect(withoutConnectionOptions(headers, ["close", "keep-alive", "upgrade", "host"])).to.equal(headers);
  });

  it("fields that Connection cannot remove are kept", () => {
    const headers = [
      ...["Host", "Authorization", "Cookie", "Content-Length", "Forwarded", "X-Real-IP", "X-SSL-Client-Cert"],
      ...["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto"],
    ].flatMap((name) => [name, "1"]);
    const options = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(withoutConnectionOptions([...headers, "X", "1"], [...options, "x"])).to.deep.equal(headers);
  });
});
