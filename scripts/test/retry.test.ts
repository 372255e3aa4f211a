import { expect } from "chai";
import { afterRetry, retryOf } from "../results/retry.ts";
import { results } from "./run-results.ts";

describe("a second try", () => {
  const files = ["a/a.test.ts", "a/b.test.ts", "c/c.test.ts"];
  const checks = ["lint", "types"];

  it("a second try has the files and checks that failed, each once", () => {
    const first = results(9, ["a/b.test.ts: x", "types", "a/b.test.ts: y"]);
    expect(retryOf(first, { files, checks })).to.deep.equal({
      first,
      files: ["a/b.test.ts"],
      checks: ["types"],
    });
  });

  it("a second try is the whole run when the first crashed, left no results, or failed elsewhere", () => {
    for (const first of [
      undefined,
      results(0),
      results(9, ["a/b.test.ts: x", "tests of a: the runner ended before its tests"]),
      results(9, ["a/gone.test.ts: x"]),
      results(9, ["coverage of operator"]),
    ])
      expect(retryOf(first, { files, checks }), JSON.stringify(first)).to.equal(undefined);
  });

  const first = results(9, ["a/b.test.ts: x", "a/b.test.ts: y", "types"], 2);
  const retry = { first, files: ["a/b.test.ts"], checks: ["types"] };

  it("tests that pass in the second try are added to those that passed before", () => {
    expect(afterRetry(retry, results(5))).to.deep.equal(results(11, [], 2));
  });

  it("tests that fail in the second try only are not counted as passed", () => {
    expect(afterRetry(retry, results(3, ["a/b.test.ts: y", "a/b.test.ts: z"]))).to.deep.equal(
      results(9, ["a/b.test.ts: y", "a/b.test.ts: z"], 2),
    );
  });

  it("a check that fails again is a failure and changes no count of tests", () => {
    expect(afterRetry(retry, results(5, ["types", "coverage of a"]))).to.deep.equal(
      results(11, ["types", "coverage of a"], 2),
    );
  });
});
