import fc from "fast-check";
import type { Representation } from "../http2/hpack/block.ts";
import { type Field, fieldOr } from "./http2-fields.ts";

/** One frame of a server on the stream of the request. */
export type Step =
  | { readonly kind: "head"; readonly fields: readonly Representation[]; readonly end: boolean }
  | { readonly kind: "data"; readonly text: string; readonly padding: number; readonly end: boolean }
  | { readonly kind: "reset"; readonly code: number }
  | { readonly kind: "window"; readonly by: number };

export type Script = { readonly method: string; readonly hasBody: boolean; readonly steps: readonly Step[] };

const field = fieldOr(
  4,
  ["content-length", "0"],
  ["content-length", "3"],
  ["content-length", "03"],
  ["content-length", "+3"],
  ["content-length", "9007199254740993"],
  ["content-length", "9223372036854775808"],
  ["content-length", ""],
  ["content-type", "application/grpc"],
  ["set-cookie", "a=1"],
  ["set-cookie", "b=2"],
  ["cookie", "a=1"],
  ["host", "a b"],
  ["te", "trailers"],
  ["te", "gzip"],
  ["connection", "close"],
  ["transfer-encoding", "chunked"],
  ["keep-alive", "1"],
  ["upgrade", "h2c"],
  ["proxy-connection", "close"],
  ["grpc-status", "0"],
  ["priority", "u=1"],
  ["X-Upper", "1"],
  [":status", "200"],
  [":path", "/other"],
  [":unknown", "1"],
  ["", "empty"],
);

const statuses = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("200", "404", "500") },
  { weight: 3, arbitrary: fc.constantFrom("204", "304", "205", "299") },
  { weight: 2, arbitrary: fc.constantFrom("100", "103", "101", "199") },
  { weight: 1, arbitrary: fc.constantFrom("099", "600", "999", "000", "20", "2000", "2x0", "", "+20") },
);

const represented = (fields: fc.Arbitrary<readonly Field[]>): fc.Arbitrary<Representation[]> =>
  fields.chain((list) =>
    fc.tuple(
      ...list.map(([name, value]) =>
        fc.record<Representation>({
          name: fc.constant(name),
          value: fc.constant(value),
          kind: fc.constantFrom("indexed", "incremental", "plain", "never"),
          isNameCoded: fc.boolean(),
          isValueCoded: fc.boolean(),
        }),
      ),
    ),
  );

const few = fc.array(field, { maxLength: 3 });
const rarely = fc.nat(19).map((one) => one === 0);

const headStep = (status: fc.Arbitrary<string>): fc.Arbitrary<Step> =>
  fc
    .record({ status, fields: few, isLate: rarely, isMissing: rarely, end: fc.boolean() })
    .chain(({ status: value, fields, isLate, isMissing, end }) => {
      const own: Field[] = isMissing ? [] : [[":status", value]];
      return represented(fc.constant(isLate ? [...fields, ...own] : [...own, ...fields])).map(
        (list): Step => ({
          kind: "head",
          fields: list,
          end,
        }),
      );
    });
const trailerStep: fc.Arbitrary<Step> = fc
  .tuple(represented(few), fc.nat(9))
  .map(([fields, end]): Step => ({ kind: "head", fields, end: end > 0 }));
const dataStep: fc.Arbitrary<Step> = fc
  .record({
    text: fc.constantFrom("", "a", "abc", "x".repeat(300)),
    padding: fc.constantFrom(-1, -1, -1, 0, 7, 255),
    end: fc.boolean(),
  })
  .map((one): Step => ({ kind: "data", ...one }));
const resetStep: fc.Arbitrary<Step> = fc
  .constantFrom(0, 1, 2, 5, 8, 11, 13, 99)
  .map((code): Step => ({ kind: "reset", code }));
const windowStep: fc.Arbitrary<Step> = fc
  .constantFrom(0, 1, 65_535, 0x7fff_ffff)
  .map((by): Step => ({ kind: "window", by }));

/** The responses of a server, most of them invalid. */
export const script: fc.Arbitrary<Script> = fc.record({
  method: fc.constantFrom("POST", "POST", "POST", "HEAD"),
  hasBody: fc.boolean(),
  steps: fc
    .tuple(
      fc.array(headStep(fc.constantFrom("100", "103", "102")), { maxLength: 1 }),
      fc.array(headStep(statuses), { minLength: 0, maxLength: 1 }),
      fc.array(dataStep, { maxLength: 3 }),
      fc.array(trailerStep, { maxLength: 1 }),
      fc.array(fc.oneof(resetStep, windowStep, dataStep), { maxLength: 1 }),
      rarely,
    )
    .map(([interim, head, content, trailers, more, isShuffled]) => {
      const steps = [...interim, ...head, ...content, ...trailers, ...more];
      return isShuffled ? steps.toReversed() : steps;
    }),
});

/**
 * The reasons why the native codec refuses a block that nghttp2 accepts, each with the fields to which it applies. The
 * native codec is stricter in all of them; nghttp2 drops such fields.
 */
const refused: Readonly<Record<string, (field: Field) => boolean>> = {
  // oxlint-disable-next-line no-control-regex
  "control characters in a value": ([, value]) => /[\0-\x08\x0a-\x1f\x7f]/.test(value),
  "a name that is no token, or empty": ([name]) => !/^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name),
  "white space around a value": ([, value]) => /^[\t ]|[\t ]$/.test(value),
  "a Host that is no authority": ([name, value]) =>
    name === "host" && !/^[!$%&'()*+,\-.0-9:;=A-Z[\]_a-z~]+$/.test(value),
};

/** Whether a later head, such as the trailers, has a Content-Length or Host. */
const isLateFraming = (steps: readonly Step[]): boolean => {
  const heads = steps.filter((step) => step.kind === "head");
  return heads
    .slice(1)
    .some(({ fields }) => fields.some(({ name }) => name === "content-length" || name === "host"));
};

/** DATA between a 1xx head and the final one, which nghttp2 lets pass when it is empty. */
const isEarlyData = (steps: readonly Step[]): boolean =>
  steps.some((step, at) => {
    const before = steps.slice(0, at).findLast(({ kind }) => kind === "head");
    if (step.kind !== "data" || step.text !== "" || before?.kind !== "head") return false;
    return before.fields.some(({ name, value }) => name === ":status" && value.startsWith("1"));
  });

/** Whether the native codec may refuse what nghttp2 takes. */
export const isExplained = ({ steps }: Script): boolean =>
  isLateFraming(steps) ||
  isEarlyData(steps) ||
  steps.some(
    (step) =>
      step.kind === "head" &&
      step.fields.some(({ name, value }) => Object.values(refused).some((isOne) => isOne([name, value]))),
  );

/** Octets that are written over, taken away or put in. */
export const mutations = fc.array(
  fc.record({
    at: fc.nat({ max: 400 }),
    kind: fc.constantFrom("set", "set", "flip", "cut", "insert"),
    octet: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 1, 4, 5, 8, 9, 0x20, 0x40, 0x80, 0x88, 0xff)),
  }),
  { minLength: 1, maxLength: 3 },
);
export const mutated = (
  bytes: Buffer,
  changes: readonly { at: number; kind: string; octet: number }[],
): Buffer => {
  const all = [...bytes];
  for (const { at, kind, octet } of changes) {
    const place = all.length === 0 ? 0 : at % all.length;
    if (kind === "cut") all.splice(place, 1);
    else if (kind === "insert") all.splice(place, 0, octet);
    else all[place] = kind === "set" ? octet : (all[place] ?? 0) ^ (1 << (octet % 8));
  }
  return Buffer.from(all);
};
