import { expect } from "chai";
import fc from "fast-check";
import {
  booleanForm,
  integerForm,
  listForm,
  normalizeText,
  onOffForm,
  rangesForm,
  referenceForm,
  sizeForm,
  textForm,
} from "../../../src/translate/ingress-nginx/values.ts";

const truths = ["1", "t", "T", "true", "True", "TRUE"];
const falsehoods = ["0", "f", "F", "false", "False", "FALSE"];

describe("values of ingress-nginx", () => {
  it("a boolean is one of the twelve words of Go's ParseBool and nothing else", () => {
    for (const word of truths) expect(booleanForm.parse(word)).to.deep.equal({ ok: true, value: true });
    for (const word of falsehoods) expect(booleanForm.parse(word)).to.deep.equal({ ok: true, value: false });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("yes", "on", " true", "true\n", "tRUE")), (text) => {
        expect(booleanForm.parse(text).ok).to.equal([...truths, ...falsehoods].includes(text));
      }),
    );
  });

  it("an integer has an optional sign and digits, no unit and no blanks, and is not negative", () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom("", "+"), (number, sign) => {
        expect(integerForm().parse(`${sign}${number}`)).to.deep.equal({ ok: true, value: number });
        if (number > 0) expect(integerForm().parse(`-${number}`).ok).to.equal(false);
        for (const bad of [
          `${number}s`,
          ` ${number}`,
          `${number} `,
          `${number}.5`,
          `0x${number}`,
          `${number}_0`,
        ]) {
          expect(integerForm().parse(bad).ok, bad).to.equal(false);
        }
      }),
    );
    expect(integerForm().parse("007")).to.deep.equal({ ok: true, value: 7 });
    expect(integerForm().parse("99999999999").ok).to.equal(false);
  });

  it("a size is digits and at most one of k, m and g in any case, in powers of 1024", () => {
    const size = sizeForm({ allowsGiga: true });
    fc.assert(
      fc.property(
        fc.nat({ max: 2 ** 20 }),
        fc.constantFrom("", "k", "K", "m", "M", "g", "G"),
        (number, unit) => {
          const power = ["", "k", "m", "g"].indexOf(unit.toLowerCase());
          expect(size.parse(`${number}${unit}`)).to.deep.equal({ ok: true, value: number * 1024 ** power });
        },
      ),
    );
    for (const bad of ["1b", "1kb", "1 k", "1.5m", "-1k", "k", "0x1k", "10Mi"]) {
      expect(size.parse(bad).ok, bad).to.equal(false);
    }
    expect(size.parse(" 8m ")).to.deep.equal({ ok: true, value: 8 * 1024 ** 2 });
    expect(sizeForm({ allowsGiga: false }).parse("1g").ok).to.equal(false);
  });

  it("on/off is exactly one of the two words, with blanks around it", () => {
    expect(onOffForm.parse(" on ")).to.deep.equal({ ok: true, value: true });
    expect(onOffForm.parse("off\n")).to.deep.equal({ ok: true, value: false });
    for (const bad of ["On", "true", "o n", ""]) expect(onOffForm.parse(bad).ok, bad).to.equal(false);
  });

  it("a list has its items without blanks around them and without empty ones, and one bad item spoils it", () => {
    const names = listForm("list", /^[a-z]+$/, "names");
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,5}$/)),
        fc.constantFrom("", " ", "\n "),
        (items, blank) => {
          expect(names.parse(items.map((item) => `${blank}${item}${blank}`).join(",,"))).to.deep.equal({
            ok: true,
            value: items,
          });
          expect(names.parse([...items, "1"].join(",")).ok).to.equal(false);
        },
      ),
    );
  });

  it("a text has every line trimmed, and a control character makes it invalid", () => {
    expect(normalizeText("  a b \n\t c\n")).to.equal("a b\nc");
    const anything = textForm("text", /^/, "text");
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 31 }), (text, code) => {
        const bad = `x${text}${String.fromCodePoint(code)}x`;
        if (code !== 9 || !/^\s*$/.test(text))
          expect(anything.parse(bad).ok, JSON.stringify(bad)).to.equal(false);
      }),
    );
  });

  it("a list of addresses has at least one, and one that is none spoils it", () => {
    expect(rangesForm.parse("10.0.0.0/8, ::1 ,192.0.2.1,").ok).to.equal(true);
    for (const bad of ["", " , ", "10.0.0.0/33", "10.0.0.1;10.0.0.2", "10.0.0.1,host"]) {
      expect(rangesForm.parse(bad).ok, bad).to.equal(false);
    }
  });

  it("a reference is a name of an object, in a namespace where that is required", () => {
    const named = referenceForm({ optionalNamespace: true });
    const full = referenceForm({ optionalNamespace: false });
    expect(named.parse("secret")).to.deep.equal({
      ok: true,
      value: { namespace: undefined, name: "secret" },
    });
    expect(full.parse("shop/secret")).to.deep.equal({
      ok: true,
      value: { namespace: "shop", name: "secret" },
    });
    expect(full.parse("secret").ok).to.equal(false);
    for (const bad of ["a/b/c", "/a", "a/", "../a", "A/b", "a b"]) {
      expect(named.parse(bad).ok, bad).to.equal(false);
    }
  });
});
