import { expect } from "chai";
import { textOf, withoutThrowing } from "../../src/values/errors.ts";
import { ok, problem } from "../../src/values/result.ts";

describe("errors", () => {
  it("the text of an Error is its message, that of anything else is its own", () => {
    expect(textOf(new TypeError("bad"))).to.equal("bad");
    expect(textOf("bad")).to.equal("bad");
    expect(textOf(undefined)).to.equal("undefined");
  });

  it("withoutThrowing keeps the result of work that does not throw", () => {
    const failed = problem("bad");
    expect(withoutThrowing(() => ok(1))).to.deep.equal(ok(1));
    expect(withoutThrowing(() => failed)).to.equal(failed);
  });

  it("withoutThrowing makes a failure of what work throws, with its text or the one that it is given", () => {
    const work = (): never => {
      throw new Error("bad");
    };
    expect(withoutThrowing(work)).to.deep.equal(problem("bad"));
    expect(withoutThrowing(work, (error) => `a bug: ${textOf(error)}`)).to.deep.equal(problem("a bug: bad"));
  });
});
