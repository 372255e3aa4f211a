import { expect } from "chai";
import fc from "fast-check";
import { toJsonValue } from "../../../src/sources/files/convert.ts";
import { readPlainText } from "../../../src/sources/files/plain-text.ts";
import { parseYaml } from "../../../src/sources/files/yaml-text.ts";

/** Reads one document with the package `yaml`; returns undefined if that finds a fault or further documents. */
async function readByYaml(text: string): Promise<unknown> {
  const [document, ...others] = await parseYaml(text);
  if (document?.ok !== true || others.length > 0) return undefined;
  const { root, positionOf } = document.value;
  const { value, faults } = toJsonValue(root);
  return faults.length > 0 ? undefined : { value, position: positionOf(root.range[0]) };
}

const keys = [
  "kind",
  "spec",
  "a.b/c-d",
  "on",
  "N",
  "Null",
  "80",
  "<<",
  "e1",
  "constructor",
  '"q"',
  "?",
  "é",
  "a b",
];

const scalars = [
  ...["true", "True", "null", "~", "yes", "No", "off", "y", ".inf", ".nan", "NaN", "e1", "1e3", "12e3456789"],
  ...["0", "-0", "-1", "+1", "007", "0o7", "0x1f", "0b1", "1_000", "1.5", ".5", "1.", "12:30", "190:20:30"],
  ...[
    "2001-01-01",
    "10.0.0.1",
    "10.0.0.0/8",
    "8m",
    "100Mi",
    "1e",
    "5e3",
    "123456789012345678901",
    "5x",
    "0m",
  ],
  ...[
    "web",
    "web app",
    "/",
    "/a(/|$)(.*)",
    "http://a/b",
    "a: b",
    "a:b",
    "a #b",
    "a#b",
    "a,b",
    "[a",
    "a]b",
    "{{x}}",
    "b:",
  ],
  ...[
    '"q"',
    '"a: #b"',
    '"a\\n"',
    '"a" b',
    "'q'",
    "'a''b'",
    '"',
    "'",
    "&a b",
    "*a",
    "!!str 1",
    "|",
    ">-",
    "- x",
    "%a",
    "@a",
  ],
  ...[
    "[]",
    "{}",
    "[a, b]",
    "[yes, 8m]",
    "[a,b]",
    "[a, ]",
    '["a", 1]',
    "{ a: b }",
    "{a: 1, c: no}",
    "{ y: 1 }",
    "{ a: 1, a: 2 }",
  ],
  ...["{a}", "[a: b]", "{ a:b }", "é", "a\u00a0b", "a\u2028b", "a\tb", "`a", "a'b", 'a"b'],
];

/** Most of the lines are plain, so that documents of several plain lines are common enough. */
const mostly = <T>(usual: readonly T[], any: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(...usual), weight: 5 },
    { arbitrary: fc.constantFrom(...any), weight: 1 },
  );

const lines = fc
  .record({
    indent: fc.constantFrom(0, 0, 2, 2, 4, 6, 1),
    dashes: mostly(["", "", "- "], ["-  ", "- - ", "-"]),
    key: fc.option(mostly(["kind", "spec", "name", "a.b/c-d"], keys), { freq: 6, nil: undefined }),
    gap: mostly([" "], ["", "  ", "\t"]),
    value: fc.option(mostly(["web", "80", "8m", "[a, b]"], scalars), { freq: 3, nil: undefined }),
    end: mostly([""], [" ", " # said", "# said", " #", "\r"]),
  })
  .map(({ indent, dashes, key, gap, value, end }) => {
    const start = key === undefined ? "" : `${key}:`;
    const rest = value === undefined ? "" : `${key === undefined ? "" : gap}${value}`;
    return `${" ".repeat(indent)}${dashes}${start}${rest}${end}`;
  });

const extras = fc.constantFrom(
  "",
  "  ",
  "# said",
  "   # said",
  "---",
  "...",
  "%YAML 1.2",
  "#\u2028a: b",
  "\t",
);

/** Documents out of lines, some of which fit together. */
const documents = fc
  .tuple(
    fc.constantFrom("", "", "---\n", "--- \n"),
    fc.array(fc.oneof({ arbitrary: lines, weight: 9 }, extras), { minLength: 1, maxLength: 6 }),
    fc.constantFrom("\n", "\n", ""),
  )
  .map(([start, all, end]) => `${start}${all.join("\n")}${end}`);

describe("readPlainText", () => {
  it("a text that is taken for plain has the value and the place that the package yaml gives", async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(documents, async (text) => {
        const read = readPlainText(text);
        if (read === undefined) return;
        plain++;
        expect(read).to.deep.equal(await readByYaml(text));
      }),
      { numRuns: 20_000 },
    );
    expect(plain).to.be.greaterThan(1_000);
  });

  it("a manifest as most are written is plain", () => {
    const text = `---
# The shop.
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  labels: { app: shop, tier: web }
  annotations:
    ingress.svc-labs.dev/max-body-size: 8m
    ingress.svc-labs.dev/rewrite-target: /new/$1
spec:
  tls:
    - hosts: [shop.example.com, "*.example.org"] # both
      secretName: shop-tls
  rules:
  - host: shop.example.com
    http:
      paths:
        - path: /

          backend: { service: { name: shop } }
`;
    expect(readPlainText(text)).to.equal(undefined);
    expect(readPlainText(text.replace("{ service: { name: shop } }", "{}"))).to.deep.equal({
      position: { line: 3, column: 1 },
      value: {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: {
          name: "shop",
          labels: { app: "shop", tier: "web" },
          annotations: {
            "ingress.svc-labs.dev/max-body-size": "8m",
            "ingress.svc-labs.dev/rewrite-target": "/new/$1",
          },
        },
        spec: {
          tls: [{ hosts: ["shop.example.com", "*.example.org"], secretName: "shop-tls" }],
          rules: [{ host: "shop.example.com", http: { paths: [{ path: "/", backend: {} }] } }],
        },
      },
    });
  });

  for (const [what, text] of [
    ["a key that is repeated", "kind: Service\nkind: Secret\n"],
    ["a word that YAML 1.1 takes for a boolean", "kind: yes\n"],
    ["a list with a word that YAML 1.1 takes for a boolean", "kinds: [a, no]\n"],
    ["a key that YAML 1.1 takes for a boolean", "on: a\n"],
    ["a value that goes on in the next line", "kind: a\n  b: c\n"],
    ["a value of several lines", "kind: |\n  a\n"],
    ["an alias", "kind: &a b\nother: *a\n"],
    ["a number in another notation", "port: 0x50\n"],
    ["a text of more than 64 KiB", `kind: a\n${"# said\n".repeat(10_000)}`],
    ["a text without content", "---\n# nothing\n"],
  ] as const) {
    it(`${what} is left to the package yaml`, () => {
      expect(readPlainText(text)).to.equal(undefined);
    });
  }
});
