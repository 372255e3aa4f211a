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
    it(`${name} is one`, () => expect(isHopByHop(name)).to.equal(true));
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
    it(`${name} is none`, () => expect(isHopByHop(name)).to.equal(false));
  }

  it("reads the options of Connection", () => {
    expect(connectionOptions(" Close ,, X-A,\tkeep-alive ")).to.deep.equal(["close", "x-a", "keep-alive"]);
    expect(connectionOptions("")).to.deep.equal([]);
  });

  it("removes what Connection names", () => {
    expect(withoutConnectionOptions(["X-A", "1", "B", "2", "x-a", "3"], ["x-a", "absent"])).to.deep.equal([
      "B",
      "2",
    ]);
  });

  it("gives back the same list when Connection names nothing", () => {
    const headers = ["A", "1"];
    expect(withoutConnectionOptions(headers, ["close", "keep-alive", "upgrade", "host"])).to.equal(headers);
  });

  it("keeps what Connection must not take away", () => {
    const headers = [
      ...["Host", "Authorization", "Cookie", "Content-Length", "Forwarded", "X-Real-IP", "X-SSL-Client-Cert"],
      ...["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto"],
    ].flatMap((name) => [name, "1"]);
    const options = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(withoutConnectionOptions([...headers, "X", "1"], [...options, "x"])).to.deep.equal(headers);
  });
});
