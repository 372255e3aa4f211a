import { expect } from "chai";
import fc from "fast-check";
import { z } from "zod";
import { acceptsOf } from "../../src/ir/accepts.ts";
import { resourceSchemas } from "../../src/ir/resource.ts";

/** The result of zod for a value; undefined if zod rejects it. */
const byZod = (schema: z.ZodType, value: unknown): unknown => {
  const read = schema.safeParse(value);
  return read.success ? { data: read.data } : undefined;
};

/** The result of JSON.parse for a number that is too large: Infinity. */
const beyondRange: unknown = JSON.parse("1e400");

const plainRoute = {
  id: "ingress/ns/web:0.0",
  source: { kind: "Ingress", namespace: "ns", name: "web" },
  match: { path: { type: "prefix", value: "/" } },
  backends: [
    { weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1", closes: true },
    { weight: 0, service: "", protocol: "http2", status: 503 },
  ],
  tier: 2,
  accessLog: false,
};

/** Each part of a route and of an endpoint set that has its own form, as in bodies. */
const bodies: readonly { readonly type: keyof typeof resourceSchemas; readonly value: unknown }[] = [
  {
    type: "route",
    value: {
      listener: "ingress",
      inherit: false,
      pathLevel: "base",
      matchPaths: "decoded",
      routes: [
        {
          ...plainRoute,
          features: { "max-body-size": { bytes: 8_388_608 }, timeouts: { request: 1_000 } },
        },
      ],
    },
  },
  {
    type: "endpoints",
    value: {
      service: "ns/web",
      resolve: "static",
      addresses: [
        { host: "10.0.0.1", port: 80 },
        { host: "10.0.0.2", port: 65_535 },
      ],
      external: true,
    },
  },
  { type: "own-ports", value: { addresses: [{ host: "10.0.0.1", ports: [80, 443], shared: true }] } },
];

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, "", "http2", -1, 0.5, 65_536, 2 ** 53, beyondRange, [], {}),
  fc.jsonValue(),
);

/** A value with one part replaced, removed, or with an unknown field: `at` chooses where. */
function spoil(value: unknown, at: readonly number[], other: unknown): unknown {
  const [first = 0, ...rest] = at;
  if (typeof value !== "object" || value === null || at.length === 0) return other;
  if (Array.isArray(value)) {
    const index = first % (value.length + 1);
    return index === value.length
      ? [...(value as unknown[]), other]
      : value.map((item: unknown, place) => (place === index ? spoil(item, rest, other) : item));
  }
  const names = Object.keys(value);
  const index = first % (names.length + 2);
  if (index === names.length) return { ...value, ["later"]: other };
  if (index > names.length) return Object.fromEntries(Object.entries(value).slice(1));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name === names[index] ? spoil(part, rest, other) : part,
    ]),
  );
}

describe("the quick test of values", () => {
  it("a body of the forms that snapshots have is accepted", () => {
    for (const { type, value } of bodies.filter(({ type: name }) => name !== "route"))
      expect(acceptsOf(resourceSchemas[type])(value), type).to.equal(true);
    const plain = { listener: "ingress", inherit: false, routes: [plainRoute] };
    expect(acceptsOf(resourceSchemas.route)(plain)).to.equal(true);
  });

  it("what the quick test accepts is what zod accepts and returns as it is", () => {
    const path = fc.array(fc.nat({ max: 20 }), { maxLength: 7 });
    fc.assert(
      fc.property(fc.constantFrom(...bodies), path, junk, ({ type, value }, at, other) => {
        const spoiled = spoil(value, at, other);
        const schema = resourceSchemas[type];
        if (acceptsOf(schema)(spoiled)) expect(byZod(schema, spoiled)).to.deep.equal({ data: spoiled });
      }),
      { numRuns: 2_000 },
    );
  });

  it("a field that zod would drop, and one that is missing, are left to zod", () => {
    const accepts = acceptsOf(z.object({ a: z.string(), b: z.string().optional() }));
    expect(accepts({ a: "" })).to.equal(true);
    expect(accepts({ a: "", b: "" })).to.equal(true);
    for (const value of [
      {},
      { a: "", c: 1 },
      { b: "" },
      JSON.parse('{"a":"","__proto__":{}}'),
      [],
      null,
      "a",
    ])
      expect(accepts(value), JSON.stringify(value)).to.equal(false);
  });

  it("the limits of numbers and lists hold as zod has them", () => {
    const schemas = [
      z.int().min(1).max(3),
      z.int().min(1).min(2),
      z.number().min(0),
      z.number().gt(0),
      z.number().lt(2),
      z.int(),
      z.array(z.int()).min(1).max(2),
      z.array(z.int()).nonempty().length(2),
      z.string().min(2),
      z.email(),
      z.union([z.object({ a: z.int() }), z.object({ a: z.int(), b: z.int() })]),
      z.record(z.string(), z.int()),
      z.string().transform((text) => text.trim()),
      z.strictObject({ a: z.int() }),
      z.looseObject({ a: z.int() }),
      z.literal([1, "a"]),
      z.enum(["a", "b"]),
      z.object({ a: z.object({ b: z.int() }).readonly().optional() }),
      z.object({ a: z.int().optional() }).refine(({ a }) => a !== undefined),
      z.array(z.int()).refine(({ length }) => length > 1),
      z.int().refine((number) => number > 1),
      z.enum(["a", "b"]).refine((text) => text === "a"),
      z
        .int()
        .optional()
        .refine((number) => number !== 2),
    ];
    const values = [
      0,
      1,
      2,
      3,
      4,
      0.5,
      -1,
      beyondRange,
      2 ** 53,
      "",
      "a",
      "ab",
      " a",
      "a@b.example",
      null,
      true,
      [],
    ];
    const more = [
      [1],
      [1, 2],
      [1, 2, 3],
      [""],
      {},
      { a: 1 },
      { a: 1, b: 2 },
      { b: 2 },
      { a: {} },
      { a: { b: 1 } },
    ];
    const accepted = schemas.map((schema) => {
      const accepts = acceptsOf(schema);
      return [...values, ...more].filter((value) => {
        if (!accepts(value)) return false;
        expect(byZod(schema, value)).to.deep.equal({ data: value });
        return true;
      }).length;
    });
    expect(accepted.every((count) => count > 0)).to.equal(true);
  });
});
