import { Buffer } from "node:buffer";
import { expect } from "chai";
import fc from "fast-check";
import { oneLine, quote, withArticle } from "../../src/translate/text.ts";

describe("text of messages", () => {
  it("quote: a value is put in quotation marks, and a long one is cut", () => {
    expect(quote("shop")).to.equal('"shop"');
    expect(quote("x".repeat(80))).to.equal(`"${"x".repeat(80)}"`);
    expect(quote("x".repeat(81))).to.equal(`"${"x".repeat(54)}...${"x".repeat(26)}"`);
  });

  it("quote: a long value is cut to the part around its first unprintable character", () => {
    expect(quote(`${"x".repeat(200)}\n${"x".repeat(200)}`)).to.equal(
      `"...${"x".repeat(40)}\uFFFD${"x".repeat(39)}..."`,
    );
  });

  it("withArticle gives a kind the article of its pronunciation", () => {
    const spoken = ["HTTPRoute", "UDPRoute", "GRPCRoute", "Ingress", "Gateway"].map(withArticle);
    expect(spoken).to.deep.equal(["an HTTPRoute", "a UDPRoute", "a GRPCRoute", "an Ingress", "a Gateway"]);
  });

  it("quote: control and format characters are replaced", () => {
    expect(quote("a\nb\u202Ec\u0000")).to.equal('"a\uFFFDb\uFFFDc\uFFFD"');
  });

  it("oneLine keeps every message on one line, well-formed and within 1024 bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), fc.nat({ max: 1 }), (text, half) => {
        const line = oneLine(`${text}${half === 1 ? "\ud83d" : ""}`);
        expect(Buffer.byteLength(line)).to.be.at.most(1024);
        expect(line.isWellFormed()).to.equal(true);
        expect(line).not.to.match(/[\p{Cc}\u2028]/u);
      }),
    );
    const long = oneLine("\u00e9".repeat(800));
    expect(Buffer.byteLength(long)).to.be.within(990, 1000);
    expect(long.endsWith("\u00e9...")).to.equal(true);
    expect(oneLine("short")).to.equal("short");
  });
});
