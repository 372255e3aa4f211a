import { expect } from "chai";
import fc from "fast-check";
import { annotationKey, type AnnotationDefinition } from "../../common/src/features/definition.ts";
import { annotations } from "../../common/src/features/registry.ts";
import { enumForm } from "../../common/src/values/form.ts";
import { annotationCases } from "../../common/test/features/annotation-cases.ts";
import { compileExpression } from "../../operator/src/api/validation/rules.ts";
import { rulesOf, variables } from "../generate-chart-admission.ts";

/** The annotations of an object, as CEL sees them. */
type Annotations = Readonly<Record<string, string>>;
const ingressWith = (values: Annotations | undefined): Map<string, unknown> =>
  new Map([
    [
      "metadata",
      new Map(values === undefined ? [] : [["annotations", new Map(Object.entries(values))] as const]),
    ],
  ]);

type Input = Parameters<ReturnType<typeof compileExpression>>[0];
const prepared = variables.map(({ name, expression }) => ({ name, evaluate: compileExpression(expression) }));
const compiledRules = (definitions: Iterable<AnnotationDefinition<unknown>>) =>
  rulesOf(definitions).map((rule) => ({
    ...rule,
    holds: compileExpression(rule.expression),
    describe: compileExpression(rule.messageExpression),
  }));
const rules = compiledRules(annotations.values());

/** The messages that the policy returns to the API server: one for each rule that is violated. */
function denials(
  values: Annotations | undefined,
  {
    before,
    using = rules,
  }: { readonly before?: Annotations | undefined; readonly using?: typeof rules } = {},
): readonly string[] {
  const seen = new Map<string, unknown>();
  const input = {
    object: ingressWith(values),
    oldObject: before === undefined ? null : ingressWith(before),
    variables: seen,
  } as unknown as Input;
  for (const { name, evaluate } of prepared) seen.set(name, evaluate(input));
  return using
    .filter(({ holds }) => holds(input) !== true)
    .map(({ describe: render, message }) => {
      const text = render(input);
      // The API server uses `message` if `messageExpression` has no result, or one with line breaks.
      return typeof text === "string" && !/[\r\n]/.test(text) ? text : message;
    });
}

describe("the admission policy", () => {
  for (const [key, definition] of annotations) {
    it(`the admission policy judges ${key} as the table of values does, with the message of the Event`, () => {
      for (const [value, verdict] of annotationCases[definition.name] ?? []) {
        const isDenied = definition.form !== undefined && verdict.startsWith("malformed");
        const denied = denials({ [key]: value });
        expect(denied, JSON.stringify(value)).to.have.lengthOf(isDenied ? 1 : 0);
        if (!isDenied || verdict !== "malformed" || value.trim().includes("\n")) continue;
        const parsed = definition.parse(value.trim(), () => undefined);
        const why =
          value.trim() === "" || parsed.ok
            ? "is empty"
            : `${parsed.error.message}, expected ${parsed.error.expected}`;
        expect(denied).to.deep.equal([`${key}: ${why}`]);
      }
    });
  }

  const definitions = [...annotations.values()].filter(({ form }) => form !== undefined);
  const key = annotationKey(definitions[0] as AnnotationDefinition<unknown>);

  it("the admission policy rejects no value that the controller accepts completely", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({
        unit: fc.constantFrom("0", "1", "5", ".", "s", "m", "h", "k", "/", "-", ":", ",", "a", " "),
      }),
    );
    for (const definition of definitions) {
      fc.assert(
        fc.property(text, (value) => {
          let isWhole = true;
          const trimmed = value.trim();
          const taken = trimmed !== "" && definition.parse(trimmed, () => (isWhole = false)).ok;
          if (taken && isWhole) {
            const own = compiledRules([definition]);
            expect(denials({ [annotationKey(definition)]: value }, { using: own })).to.deep.equal([]);
          }
        }),
        { numRuns: 50 },
      );
    }
  });

  it("the admission policy shortens a long value as the Event does", () => {
    const [definition] = definitions;
    for (const value of ["x".repeat(80), "x".repeat(81), "é".repeat(200), "x".repeat(100_000)]) {
      const parsed = definition?.parse(value, () => undefined);
      const message = parsed?.ok === false ? parsed.error.message : "";
      expect(denials({ [key]: value })[0]?.startsWith(`${key}: ${message}, `)).to.equal(true);
    }
  });

  it("the admission policy reports a value with line breaks without showing it", () => {
    const [denied] = denials({ [key]: "x\ny" });
    expect(denied).to.match(/: the value is not a .*, expected /);
  });

  it("the admission policy accepts objects without annotations and with other keys", () => {
    expect(denials(undefined)).to.deep.equal([]);
    expect(denials({ "example.com/x": "?", "ingress.svc-labs.dev/no-such": "?" })).to.deep.equal([]);
  });

  it("an object that is already invalid can be changed elsewhere, but not to another invalid value", () => {
    expect(denials({ [key]: "?", "example.com/x": "2" }, { before: { [key]: "?" } })).to.deep.equal([]);
    expect(denials({ [key]: "!" }, { before: { [key]: "?" } })).to.have.lengthOf(1);
    expect(denials({ [key]: "!" }, { before: {} })).to.have.lengthOf(1);
  });

  it("strings in the CEL expressions of the admission policy are escaped", () => {
    const odd = definitions.slice(0, 1).map((definition) => ({
      ...definition,
      form: { ...enumForm("it's", ["it's", "a\\b"]), expected: "it's" },
    }));
    const using = compiledRules(odd);
    expect(denials({ [key]: "it's" }, { using })).to.deep.equal([]);
    expect(denials({ [key]: "a\\b" }, { using })).to.deep.equal([]);
    expect(denials({ [key]: "its" }, { using })).to.deep.equal([`${key}: "its" is not it's, expected it's`]);
  });
});
