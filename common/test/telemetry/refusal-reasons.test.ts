import { expect } from "chai";
import {
  listedReasons,
  partOf,
  reasonOfError,
  refusalReasons,
} from "../../src/telemetry/refusals/refusal-reasons.ts";

describe("the reasons of refusals", () => {
  it("every code is in lower case with hyphens, and belongs to one part", () => {
    const codes = listedReasons.map(({ code }) => code);
    expect(codes.filter((code) => !/^[a-z]+(?:-[a-z]+)*$/.test(code))).to.deep.equal([]);
    expect(new Set(codes).size).to.equal(codes.length);
    for (const { code, part } of listedReasons) expect(partOf(code), code).to.equal(part);
  });

  it("texts are shared within a part only, so that each leads to the part that decided", () => {
    for (const { part, errors } of listedReasons) {
      for (const error of errors) {
        const code = reasonOfError(error);
        expect(code && partOf(code), error).to.equal(part);
      }
    }
    expect(reasonOfError("else")).to.equal(undefined);
  });

  it("a list has at most 150 reasons, which bounds the series of the metric", () => {
    expect(listedReasons.length).to.be.lessThan(150);
    expect(Object.keys(refusalReasons)).to.include.members(["auth-jwt", "rate-limit", "upstream"]);
  });
});
