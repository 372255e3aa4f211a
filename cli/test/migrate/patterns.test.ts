import { expect } from "chai";
import fc from "fast-check";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import { prefixPattern, routeConditions, wholePattern } from "../../src/migrate/gateway/patterns.ts";

const part = fc.constantFrom(
  "/a",
  "/b",
  "(/|$)",
  "(.*)",
  "[a-c]",
  "[|]",
  String.raw`\|`,
  "x?",
  "|",
  "$",
  "()",
);
const path = fc.array(fc.constantFrom("/a", "/b", "/A", "x", "|", "/", "c"), { maxLength: 6 });

describe("migrate: paths of HTTPRoutes", () => {
  it("a pattern for whole paths matches the paths in which the other pattern is found, with the same groups", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), path, (parts, pieces) => {
        const pattern = `(?i)^${parts.join("")}`;
        const found = compileRegex(pattern, { whole: false });
        const whole = compileRegex(wholePattern(pattern), { whole: true });
        if (!found.ok) return;
        if (!whole.ok) throw new Error(whole.error.message);
        const text = `/${pieces.join("")}`;
        const [was, is] = [found.value.find(text), whole.value.find(text)];
        expect(is?.groups, `${wholePattern(pattern)} on ${text}`).to.deep.equal(was?.groups);
      }),
    );
  });

  it("a prefix as a pattern matches whole segments below it", () => {
    const compiled = compileRegex(prefixPattern({ type: "prefix", value: "/a.b/" }).value, { whole: true });
    if (!compiled.ok) throw new Error(compiled.error.message);
    expect(["/a.b", "/a.b/c", "/a.bc", "/axb"].map((text) => compiled.value.test(text))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });

  it("a condition on a cookie becomes one on the header Cookie", () => {
    const { headers = [] } = routeConditions({ cookies: [{ name: "c.d", type: "exact", value: "always" }] });
    const compiled = compileRegex(headers[0]?.value ?? "", { whole: false });
    if (!compiled.ok) throw new Error(compiled.error.message);
    const texts = ["c.d=always", "a=b; c.d=always; x=y", "c.d=always2", "xc.d=always", "cxd=always"];
    expect(texts.map((text) => compiled.value.test(text))).to.deep.equal([true, true, false, false, false]);
  });
});
