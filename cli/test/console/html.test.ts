import { expect } from "chai";
import fc from "fast-check";
import { Html, escapeHtml, html } from "../../src/console/html.ts";

describe("the markup of the console", () => {
  it("text cannot leave an element or an attribute in quotes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(html`<a title="${text}">${text}</a>`.markup).to.match(/^<a title="[^<>"'`]*">[^<>"'`]*<\/a>$/);
      }),
    );
  });

  it("a template joins lists and markup, and leaves out what is false", () => {
    const part: Html = html`<b>${"a&b"}</b>`;
    expect(html`${[part, "<", 1]}${false}${undefined}`.markup).to.equal("<b>a&amp;b</b>&lt;1");
  });

  it("a mark that is invisible or turns text around is written out", () => {
    expect(escapeHtml("a\u202egnp.exe\u0000\u200b\ud800\n")).to.equal(
      "a\\u{202e}gnp.exe\\u{0}\\u{200b}\\u{d800}\n",
    );
    expect(escapeHtml("\u{1f600} é")).to.equal("\u{1f600} é");
  });
});
