import { expect } from "chai";
import { parseRewriteTarget, rewriteTarget } from "../../src/features/rewrite-target.ts";

describe("rewrite-target", () => {
  for (const [text, value] of [
    ["/", "/"],
    ["/app/$1", "/app/$1"],
    ["app", "app"],
    ["$1", "$1"],
    ["/a%2Fb;c=d", "/a%2Fb;c=d"],
  ] as const) {
    it(`rewrite-target: reads ${text}`, () =>
      expect(parseRewriteTarget(text)).to.deep.equal({ ok: true, value }));
  }

  for (const text of ["/a b", "/a?b", "/a#b", "/é", "/%4", "/a\r\nHost: b", "/a\u0000"]) {
    it(`rewrite-target: rejects ${JSON.stringify(text)}`, () =>
      expect(parseRewriteTarget(text).ok).to.equal(false));
  }

  it("rewrite-target: a leading slash is added to the new path", () => {
    const newPath = (value: string | undefined) =>
      rewriteTarget.fromAnnotations({ rewriteTarget: value }, () => ({ rewriteTarget: undefined }));
    expect(newPath("app")).to.deep.equal({ path: { type: "full", value: "/app" } });
    expect(newPath("/app")).to.deep.equal({ path: { type: "full", value: "/app" } });
    expect(newPath(undefined)).to.equal(undefined);
  });
});
