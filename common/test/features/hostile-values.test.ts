import fc from "fast-check";
import { expect } from "chai";
import { annotations } from "../../src/features/registry.ts";

/** Text that is difficult for parsers: separators, controls, digits, halves of surrogate pairs. */
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom("\r", "\n", "\0", ":", ",", "/", "%", "$", "1", "a", "\ud800", "é"),
    maxLength: 60,
  }),
);

describe("annotation values", () => {
  for (const [key, { parse }] of annotations) {
    it(`${key}: any text gives a value or a reason, never an exception`, () => {
      fc.assert(
        fc.property(hostileText, (text) => {
          const parsed = parse(text, () => {});
          if (!parsed.ok) expect(parsed.error.message).not.to.equal("");
        }),
      );
    });

    it(`${key}: a reason is short, however long the value`, () => {
      for (const char of ["a", "9", "/", ",", ":", "\n", "%", "é", "*."]) {
        const parsed = parse(char.repeat(60_000), () => {});
        if (!parsed.ok) expect(parsed.error.message.length).to.be.lessThan(1000);
      }
    });
  }
});
