import { expect } from "chai";
import { descriptorLimit } from "../../src/linux/descriptor-limit.ts";

describe("the descriptors of a process", () => {
  const limitIn = (line: string): number =>
    descriptorLimit(() => `Limit  Soft Limit  Hard Limit  Units\n${line}\n`);

  it("the file descriptor limit is the soft limit of the process", () => {
    expect(
      limitIn("Max open files            20000                1048576              files     "),
    ).to.equal(20_000);
    expect(
      limitIn("Max open files            unlimited            unlimited            files     "),
    ).to.equal(Number.POSITIVE_INFINITY);
  });

  it("the file descriptor limit is that of the diagnostic report where there is no /proc", () => {
    const without = (): undefined => undefined;
    expect(descriptorLimit(without, () => 10_240)).to.equal(10_240);
    expect(descriptorLimit(without, () => "unlimited")).to.equal(Number.POSITIVE_INFINITY);
    expect(descriptorLimit(without, () => undefined)).to.equal(1_024);
    expect(descriptorLimit(without)).to.equal(descriptorLimit());
  });

  it("the file descriptor limit of this process is read on Linux", () => {
    expect(descriptorLimit()).to.be.greaterThan(255);
  });
});
