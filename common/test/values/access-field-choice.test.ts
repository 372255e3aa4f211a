import { expect } from "chai";
import fc from "fast-check";
import { accessFields, usualAccessFields } from "../../src/values/access-fields.ts";
import { chosenFields, readFieldChoice } from "../../src/values/access-field-choice.ts";

const names = accessFields.map(({ name }) => name);

describe("the choice of access-log fields", () => {
  it("a list without signs is the whole list, in the order of the reference page", () => {
    expect(chosenFields(["status", "host"], usualAccessFields)).to.deep.equal(["host", "status"]);
  });

  it("a list with signs changes the fields that hold otherwise", () => {
    expect(chosenFields(["+request_id", "-host"], ["host", "status"])).to.deep.equal([
      "status",
      "request_id",
    ]);
    expect(chosenFields(["+host"], ["host"])).to.deep.equal(["host"]);
    expect(chosenFields(["-host"], ["status"])).to.deep.equal(["status"]);
  });

  it("an empty choice changes nothing", () => {
    expect(chosenFields([], usualAccessFields)).to.equal(usualAccessFields);
  });

  it("an unknown field is a problem that names a similar one", () => {
    const read = readFieldChoice(["+user_agnt"]);
    expect(read.ok || read.error.message).to.equal(
      '"user_agnt" is not a field of the access log (did you mean user_agent?)',
    );
    expect(readFieldChoice(["host", "+status"]).ok).to.equal(false);
  });

  it("the fields of any choice are known ones, each once, in the order of their declarations", () => {
    const word = fc.tuple(fc.constantFrom("", "+", "-"), fc.oneof(fc.constantFrom(...names), fc.string()));
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const chosen = chosenFields(
          words.map(([sign, name]) => sign + name),
          usualAccessFields,
        );
        const places = chosen.map((name) => names.indexOf(name));
        expect(places).to.not.include(-1);
        expect(places).to.deep.equal([...new Set(places)].toSorted((a, b) => a - b));
      }),
    );
  });
});
