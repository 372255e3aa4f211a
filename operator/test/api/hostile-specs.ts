/** Specs with a senseless value in each place that the schema of a kind has. */
import { definitionOf, type KindName } from "../../src/api/kinds.ts";
import type { Schema } from "../../src/api/schema.ts";
import { withField } from "./resource-cases/index.ts";

type HostileSpec = { readonly path: string; readonly value: unknown; readonly spec: object };

const nested = (levels: number): unknown => (levels === 0 ? "x" : { a: nested(levels - 1) });

/** Values of every type, at the ends of ranges, very long, and with characters that control terminals and protocols. */
const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  2 ** 31,
  -(2 ** 31) - 1,
  Number.MAX_SAFE_INTEGER + 1,
  1e300,
  "",
  " ",
  "0",
  "x".repeat(100_000),
  "9".repeat(1000),
  "\u0000",
  "x\r\nX-Injected: y",
  "\u001b[31m \u202e\u2028",
  "../../../etc/passwd",
  "constructor",
  "__proto__",
  [],
  [null],
  [[]],
  {},
  { constructor: {} },
  // Longer than most lists may be; the time that an API server takes for a refusal grows with the square of the length.
  Array.from({ length: 130 }, () => "x"),
  Array.from({ length: 130 }, () => ({})),
  nested(50),
];

/** The fields of a schema, and one entry of each list and map. */
function placesOf(schema: Schema | undefined, path: string): readonly string[] {
  const inner = Object.entries(schema?.properties ?? {}).flatMap(([name, child]) =>
    placesOf(child, path === "" ? name : `${path}.${name}`),
  );
  return path === "" ? inner : [path, ...inner];
}

/** Each with one place changed; lists have the value also as their only entry, and as a part of it. */
export function hostileSpecs(kind: KindName, full: object): readonly HostileSpec[] {
  const spec = definitionOf(kind).schema.properties?.["spec"];
  return placesOf(spec, "").flatMap((path) => {
    const place = path.split(".").reduce((at: Schema | undefined, name) => at?.properties?.[name], spec);
    const entries = Object.keys(place?.items?.properties ?? {});
    return values.flatMap((value) => {
      const forms = [
        value,
        ...(place?.items === undefined ? [] : [[value]]),
        ...(place?.additionalProperties === undefined ? [] : [{ [String(value).slice(0, 300)]: value }]),
        ...entries.map((name) => [{ name: "web", [name]: value }]),
      ];
      return forms.map((form) => ({ path, value: form, spec: withField(full, path, form) }));
    });
  });
}
