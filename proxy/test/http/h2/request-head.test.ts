import { expect } from "chai";
import { readRequestHead } from "../../../src/http/h2/request-head.ts";

const limits = { maxUriBytes: 20, maxHeaderBytes: 1000, maxHeaders: 5 };
const pseudo = [":method", "GET", ":scheme", "https", ":authority", "a.test", ":path", "/a"];

describe("readRequestHead", () => {
  it("readRequestHead separates pseudo-fields from fields", () => {
    const received = readRequestHead([...pseudo, "a", "1", "a", "2"], limits);
    const { headers, ...rest } = received.head;
    expect({ ...rest, headers: headers.toList() }).to.deep.equal({
      version: "2.0",
      method: "GET",
      target: "/a",
      authority: "a.test",
      scheme: "https",
      headers: ["a", "1", "a", "2"],
    });
    expect(received).to.deep.include({ contentLength: undefined, grpc: false, refusal: undefined });
  });

  it("readRequestHead joins the pieces of a Cookie at the place of the first one", () => {
    const { head } = readRequestHead(
      [...pseudo, "cookie", "a=1", "b", "x", "cookie", "c=2", "cookie", "d=3"],
      limits,
    );
    expect(head.headers.toList()).to.deep.equal(["cookie", "a=1; c=2; d=3", "b", "x"]);
  });

  it("readRequestHead reads the length and the gRPC content type", () => {
    const { contentLength, grpc } = readRequestHead(
      [...pseudo, "content-length", "12", "content-type", "application/grpc+proto"],
      limits,
    );
    expect(contentLength).to.equal(12);
    expect(grpc).to.equal(true);
  });

  it("readRequestHead refuses a length that no number holds exactly", () => {
    const of = (length: string) => readRequestHead([...pseudo, "content-length", length], limits).refusal;
    expect(of("9007199254740991")).to.equal(undefined);
    expect(of("9007199254740992")).to.equal("malformed");
    expect(of("9223372036854775807")).to.equal("malformed");
  });

  it("readRequestHead measures the header list as SETTINGS_MAX_HEADER_LIST_SIZE does, and refuses one over a limit", () => {
    const bytes = pseudo.join("").length + 4 * 32;
    expect(readRequestHead(pseudo, limits).listBytes).to.equal(bytes);
    const fits = "x".repeat(1000 - bytes - 33);
    expect(readRequestHead([...pseudo, "a", fits], limits).refusal).to.equal(undefined);
    expect(readRequestHead([...pseudo, "a", `${fits}x`], limits).refusal).to.equal("header-too-large");
    const five = Array.from({ length: 5 }, () => ["a", "b"]).flat();
    expect(readRequestHead([...pseudo, ...five], limits).refusal).to.equal(undefined);
    expect(readRequestHead([...pseudo, ...five, "a", "b"], limits).refusal).to.equal("too-many-headers");
  });

  it("readRequestHead reports a target over its limit before other limits", () => {
    const path = (length: number): string[] => [":method", "GET", ":path", `/${"a".repeat(length - 1)}`];
    expect(readRequestHead(path(20), limits).refusal).to.equal(undefined);
    expect(readRequestHead(path(21), limits).refusal).to.equal("uri-too-long");
    expect(readRequestHead([...path(21), "a", "x".repeat(2000)], limits).refusal).to.equal("uri-too-long");
  });

  it("readRequestHead uses the authority as the target of CONNECT", () => {
    const { head } = readRequestHead([":method", "CONNECT", ":authority", "a.test:1"], limits);
    expect(head).to.deep.include({
      method: "CONNECT",
      target: "a.test:1",
      authority: "a.test:1",
      scheme: undefined,
    });
  });
});
