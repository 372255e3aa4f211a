import { expect } from "chai";
import { memoByName } from "../../src/message/name-memo.ts";

/** A memo of upper-case names, and the number of names that it computed. */
function countingMemo(): { readonly upper: (name: string) => string; readonly computed: () => number } {
  let computed = 0;
  const upper = memoByName((name) => {
    computed++;
    return name.toUpperCase();
  });
  return { upper, computed: () => computed };
}

describe("a memo by field name", () => {
  it("the memo computes a value once for each spelling of a field name", () => {
    const { upper, computed } = countingMemo();
    for (let i = 0; i < 3; i++) for (const name of ["host", "Host"]) expect(upper(name)).to.equal("HOST");
    expect(computed()).to.equal(2);
  });

  it("the memo keeps nothing about long names, which would fill the memory", () => {
    const { upper, computed } = countingMemo();
    const long = "x".repeat(65);
    for (let i = 0; i < 3; i++) expect(upper(long)).to.equal("X".repeat(65));
    expect(computed()).to.equal(3);
  });

  it("the memo starts from empty when made-up names have filled it, so that real names are kept again", () => {
    const { upper, computed } = countingMemo();
    for (let i = 0; i < 10_000; i++) upper(`x-${i}`);
    upper("host");
    const before = computed();
    upper("host");
    expect(computed()).to.equal(before);
    upper("x-0");
    expect(computed()).to.equal(before + 1);
  });
});
