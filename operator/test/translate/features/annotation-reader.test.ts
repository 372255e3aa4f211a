import { defineAnnotation, type AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import {
  createAnnotationReader,
  parseAnnotation,
} from "../../../src/translate/features/annotation-reader.ts";

const level = defineAnnotation<number>({
  name: "level",
  type: "integer",
  builtIn: "6",
  gatewayApi: "none",
  classDefault: true,
  onInvalid: "ignore",
  fallback: "the level is 6",
  doc: "A level.",
  parse: (text) => (/^[1-9]$/.test(text) ? ok(Number(text)) : problem("is no level", "1 to 9")),
});

function read(annotations: { readonly [key: string]: string }, classDefault?: number) {
  const reported: string[] = [];
  const reader = createAnnotationReader({
    annotations,
    classDefaults:
      classDefault === undefined
        ? undefined
        : {
            namespace: "infra",
            keys: ["ingress.svc-labs.dev/level"],
            get: <T>(definition: AnnotationDefinition<T>) =>
              definition.name === "level" ? (classDefault as T) : undefined,
          },
    onInvalid: (key, message) => reported.push(`${key} | ${message}`),
    onWarning: (key, message) => reported.push(`${key} ? ${message}`),
  });
  return { value: reader(level), reported };
}

describe("annotation reader", () => {
  it("prefers the Ingress to the class, and the class to nothing", () => {
    expect(read({ "ingress.svc-labs.dev/level": " 3 " }, 5)).to.deep.equal({ value: 3, reported: [] });
    expect(read({}, 5)).to.deep.equal({ value: 5, reported: [] });
    expect(read({ level: "3" })).to.deep.equal({ value: undefined, reported: [] });
  });

  it("takes a value that does not parse for absent, and says what applies instead", () => {
    const wrong = "ingress.svc-labs.dev/level | ingress.svc-labs.dev/level: is no level, expected 1 to 9";
    expect(read({ "ingress.svc-labs.dev/level": "12" })).to.deep.equal({
      value: undefined,
      reported: [`${wrong}; the level is 6`],
    });
    expect(read({ "ingress.svc-labs.dev/level": "12" }, 5)).to.deep.equal({
      value: 5,
      reported: [`${wrong}; the default of the class applies`],
    });
  });

  it("keeps a protection that does not parse closed, whatever the class says", () => {
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": "12" },
      classDefaults: { namespace: "infra", keys: [], get: <T>() => 5 as T },
      onInvalid: () => undefined,
      onWarning: () => expect.fail(),
    });
    expect(reader({ ...level, onInvalid: "deny", ifInvalid: -1 })).to.equal(-1);
  });

  it("takes a value that means absent for absent", () => {
    const optional = defineAnnotation<number | undefined>({ ...level, parse: () => ok(undefined) });
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": "0" },
      classDefaults: { namespace: "infra", keys: [], get: <T>() => 5 as T },
      onInvalid: () => expect.fail(),
      onWarning: () => expect.fail(),
    });
    expect(reader(optional)).to.equal(5);
  });

  it("does not let an empty value take the default of the class away", () => {
    const { value, reported } = read({ "ingress.svc-labs.dev/level": " \n " }, 5);
    expect(value).to.equal(5);
    expect(reported).to.have.lengthOf(1);
  });

  it("takes an empty value for absent without a word where that is a way to say nothing", () => {
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": " " },
      classDefaults: { namespace: "infra", keys: [], get: <T>() => 5 as T },
      onInvalid: () => expect.fail(),
      onWarning: () => expect.fail(),
    });
    expect(reader({ ...level, emptyIsAbsent: true })).to.equal(5);
  });

  it("parses and reports an annotation once, however many features ask for it", () => {
    const reported: string[] = [];
    const parsed: string[] = [];
    const counted = defineAnnotation({
      ...level,
      ifInvalid: 0,
      parse: (text, warn) => {
        parsed.push(text);
        warn("a part is left out");
        return level.parse(text, warn);
      },
    });
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": "12" },
      classDefaults: undefined,
      onInvalid: (key) => reported.push(`invalid ${key}`),
      onWarning: (key, message) => reported.push(`warning ${key} | ${message}`),
    });
    expect([reader(counted), reader(counted)]).to.deep.equal([0, 0]);
    expect(parsed).to.deep.equal(["12"]);
    expect(reported).to.deep.equal([
      "warning ingress.svc-labs.dev/level | ingress.svc-labs.dev/level: a part is left out",
      "invalid ingress.svc-labs.dev/level",
    ]);
  });

  it("does not take inherited properties for annotations", () => {
    const inherited = Object.create({ "ingress.svc-labs.dev/level": "3" }) as { [key: string]: string };
    expect(read(inherited).value).to.equal(undefined);
  });

  it("does not read values of absurd length", () => {
    const parsed = parseAnnotation(level, `3${" ".repeat(10_000_000)}`, () => {});
    expect(parsed).to.deep.equal({ ok: false, error: { message: "has more than 65536 characters" } });
  });
});
