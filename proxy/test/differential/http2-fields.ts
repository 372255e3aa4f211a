/** Parts of HTTP/2 fields, for generated messages of either side. */
import fc from "fast-check";

export type Field = readonly [name: string, value: string];

const visible = fc.string({ unit: "binary-ascii", maxLength: 12 });
export const octets = fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const token = fc.stringMatching(/^[a-z0-9-]{1,8}$/);

/** Mostly valid fields, some fields of arbitrary octets, and `special` fields with the frequency `weight`. */
export const fieldOr = (weight: number, ...special: readonly Field[]): fc.Arbitrary<Field> =>
  fc.oneof(
    { weight: 14, arbitrary: fc.tuple(token, fc.oneof(visible, token)) },
    { weight: 2, arbitrary: fc.tuple(fc.oneof(visible, octets), fc.oneof(visible, octets)) },
    { weight, arbitrary: fc.constantFrom<Field>(...special) },
  );
