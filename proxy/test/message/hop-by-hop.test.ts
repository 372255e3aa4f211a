import { expect } from "chai";
import { connectionOptions, isHopByHop, removeNamedOptions } from "../../src/message/hop-by-hop.ts";
import { Fields } from "../../src/message/fields.ts";

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

  const without = (list: readonly string[], options: readonly string[]): readonly string[] => {
    const headers = Fields.of([...list]);
    removeNamedOptions(headers, options);
    return headers.toList();
  };

  it("fields that Connection names are removed", () => {
    const headers = ["X-A", "1", "B", "2", "x-a", "3"];
    expect(without(headers, ["x-a", "absent"])).to.deep.equal(["B", "2"]);
  });

  it("all fields are left when Connection names none", () => {
    expect(without(["A", "1"], ["close", "keep-alive", "upgrade", "host"])).to.deep.equal(["A", "1"]);
  });

  it("fields that Connection cannot remove are kept", () => {
    const headers = [
      ...["Host", "Authorization", "Cookie", "Content-Length", "Forwarded", "X-Real-IP", "X-SSL-Client-Cert"],
      ...["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto"],
    ].flatMap((name) => [name, "1"]);
    const options = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(without([...headers, "X", "1"], [...options, "x"])).to.deep.equal(headers);
  });
});
