import { expect } from "chai";
import { RE2JS } from "re2js";
import { enumForm, formProblem } from "../../src/values/form.ts";

const form = enumForm("a level", ["low", "high"], { former: ["no.ne"] });
const messageOf = (text: string): string => {
  const failed = formProblem(form, text);
  return failed.ok ? "" : failed.error.message;
};

describe("forms", () => {
  it("an enum form accepts present and former words in any case, and offers only the present ones", () => {
    const pattern = RE2JS.compile(form.pattern);
    for (const word of ["low", "HIGH", "no.ne"]) expect(pattern.test(word), word).to.equal(true);
    for (const word of ["lower", "no-ne", "", "low\n"]) expect(pattern.test(word), word).to.equal(false);
    expect(form.expected).to.equal("low or high");
  });

  it("a rejected value is shown up to 80 characters, and never half a character", () => {
    expect(messageOf("mid")).to.equal('"mid" is not a level');
    expect(messageOf("x".repeat(80))).to.equal(`"${"x".repeat(80)}" is not a level`);
    expect(messageOf("x".repeat(81))).to.equal(`"${"x".repeat(80)}..." is not a level`);
    expect(messageOf("𝒳".repeat(80))).to.equal(`"${"𝒳".repeat(80)}" is not a level`);
    expect(messageOf("𝒳".repeat(10_000))).to.equal(`"${"𝒳".repeat(80)}..." is not a level`);
  });
});
