import { expect } from "chai";
import fc from "fast-check";
import {
  formatLogDirectives,
  logLevels,
  parseLogDirectives,
  thresholdOf,
  type LogDirectives,
} from "../../src/telemetry/log-level.ts";

const directives = (text: string): LogDirectives => {
  const parsed = parseLogDirectives(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};

describe("log directives", () => {
  it("directives set a level for everything and levels for targets", () => {
    expect(directives(" Debug , svc_proxy::access = off ")).to.deep.equal({
      level: "debug",
      targets: [{ prefix: "svc_proxy::access", level: "off" }],
    });
  });

  it("the general level is info when directives name only targets", () => {
    expect(directives("svc_proxy=trace").level).to.equal("info");
  });

  it("the last directive for a target wins", () => {
    expect(directives("warn,a=off,error,a=info")).to.deep.equal({
      level: "error",
      targets: [{ prefix: "a", level: "info" }],
    });
  });

  for (const text of ["", "loud", "info,", "=info", "a=", "a=loud", "a=b=info", "a b=info", "info debug"]) {
    it(`parseLogDirectives rejects "${text}"`, () => expect(parseLogDirectives(text).ok).to.equal(false));
  }

  it("formatted directives are parsed back to the same value", () => {
    const level = fc.constantFrom(...logLevels, "off" as const);
    const targets = fc.uniqueArray(
      fc.record({ prefix: fc.stringMatching(/^[a-z_]{1,8}(::[a-z]{1,5})?$/), level }),
      {
        selector: ({ prefix }) => prefix,
      },
    );
    fc.assert(
      fc.property(fc.record({ level, targets }), (value) => {
        expect(directives(formatLogDirectives(value))).to.deep.equal(value);
      }),
    );
  });

  it("the longest matching prefix decides, in any order", () => {
    for (const text of [
      "info,svc_proxy=warn,svc_proxy::access=off",
      "info,svc_proxy::access=off,svc_proxy=warn",
    ]) {
      const value = directives(text);
      expect(
        ["svc_proxy", "svc_proxy::access", "svc_proxy::tls", "svc_controller"].map((target) =>
          thresholdOf(target, value),
        ),
      ).to.deep.equal(["warn", "off", "warn", "info"]);
    }
  });
});
