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
  it("the annotation reader prefers the value of the Ingress to that of the class", () => {
    expect(read({ "ingress.svc-labs.dev/level": " 3 " }, 5)).to.deep.equal({ value: 3, reported: [] });
    expect(read({}, 5)).to.deep.equal({ value: 5, reported: [] });
    expect(read({ level: "3" })).to.deep.equal({ value: undefined, reported: [] });
  });

  it("the annotation reader ignores an invalid value and reports what applies instead", () => {
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

  it("the annotation reader keeps an invalid protection closed although the class has a default", () => {
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": "12" },
      classDefaults: { namespace: "infra", keys: [], get: <T>() => 5 as T },
      onInvalid: () => undefined,
      onWarning: () => expect.fail(),
    });
    expect(reader({ ...level, onInvalid: "deny", ifInvalid: -1 })).to.equal(-1);
  });

  it("the annotation reader uses the class default for a value that means absent", () => {
    const optional = defineAnnotation<number | undefined>({ ...level, parse: () => ok(undefined) });
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": "0" },
      classDefaults: { namespace: "infra", keys: [], get: <T>() => 5 as T },
      onInvalid: () => expect.fail(),
      onWarning: () => expect.fail(),
    });
    expect(reader(optional)).to.equal(5);
  });

  it("the annotation reader keeps the class default for an empty value, and reports the value", () => {
    const { value, reported } = read({ "ingress.svc-labs.dev/level": " \n " }, 5);
    expect(value).to.equal(5);
    expect(reported).to.have.lengthOf(1);
  });

  it("the annotation reader reports no empty value of an annotation for which empty means absent", () => {
    const reader = createAnnotationReader({
      annotations: { "ingress.svc-labs.dev/level": " " },
      classDefaults: { namespace: "infra", keys: [], get: <T>() => 5 as T },
      onInvalid: () => expect.fail(),
      onWarning: () => expect.fail(),
    });
    expect(reader({ ...level, emptyIsAbsent: true })).to.equal(5);
  });

  it("the annotation reader parses and reports an annotation once when several features read it", () => {
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

  it("the annotation reader ignores inherited properties", () => {
    const inherited = Object.create({ "ingress.svc-labs.dev/level": "3" }) as { [key: string]: string };
    expect(read(inherited).value).to.equal(undefined);
  });

  it("the annotation parser rejects values of more than 65,536 characters", () => {
    const parsed = parseAnnotation(level, `3${" ".repeat(10_000_000)}`, () => {});
    expect(parsed).to.deep.equal({ ok: false, error: { message: "has more than 65536 characters" } });
  });
});
