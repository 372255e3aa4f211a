import { expect } from "chai";
import { readDocument, type DocumentItem } from "../../../src/sources/files/document.ts";

const configMap = (body: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n${body}`;

async function readItems(text: string): Promise<readonly DocumentItem[]> {
  const { items, fault } = await readDocument(text);
  expect(fault).to.equal(undefined);
  return items;
}

async function readData(body: string): Promise<unknown> {
  const [item] = await readItems(configMap(body));
  if (item?.type !== "object") throw new Error(JSON.stringify(item));
  return (item.object as { readonly data?: unknown }).data;
}

async function readFault(text: string): Promise<string> {
  const { items, fault } = await readDocument(text);
  expect(items).to.deep.equal([]);
  if (fault === undefined) throw new Error("no fault");
  return `${fault.line}:${fault.column} ${fault.message}`;
}

describe("readDocument", () => {
  it("a document gives its object with name and place", async () => {
    const [item] = await readItems(`# comment\n${configMap("data: {a: b}\n")}`);
    expect(item).to.deep.include({ type: "object", key: "/ConfigMap/default/one", line: 2, column: 1 });
    expect(item).to.have.deep.property("ref", { kind: "ConfigMap", namespace: "default", name: "one" });
  });

  it("a document without content gives no object", async () => {
    expect(await readItems("---\n# nothing\n")).to.deep.equal([]);
    expect(await readItems("--- ~\n")).to.deep.equal([]);
  });

  it("a document may be JSON, including tabs", async () => {
    const text =
      '{\n\t"apiVersion": "v1",\n\t"kind": "ConfigMap",\n\t"metadata": {"name": "one"},\n\t"data": {"a": "\\u0041"}\n}\n';
    const [item] = await readItems(text);
    expect(item).to.have.nested.property("object.data.a", "A");
  });

  it("an object of a kind that the gateway does not read is ignored", async () => {
    expect(await readItems("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")).to.deep.equal([
      { type: "ignored", apiVersion: "apps/v1", kind: "Deployment", name: "web", line: 1, column: 1 },
    ]);
  });

  describe("YAML as Kubernetes reads it", () => {
    it("keys are text, and dates and clock times stay as written", async () => {
      expect(
        await readData('data:\n  on: "1"\n  80: "2"\n  2001-01-01: 2002-02-02\n  time: 12:30:00\n'),
      ).to.deep.equal({
        on: "1",
        "80": "2",
        "2001-01-01": "2002-02-02",
        time: "12:30:00",
      });
    });

    it("a scalar without a digit, which YAML 1.1 takes for a number, and a number out of range are strings", async () => {
      const names = ["e1", "E5", "e-1", ".", "._", "-.", "12e3456789"];
      const entries = names.map((name, index) => `k${index}: ${name}`).join(", ");
      expect(Object.values((await readData(`data: {${entries}}\n`)) as object)).to.deep.equal(names);
    });

    it("yes and no are booleans and not strings", async () => {
      const [item] = await readItems(configMap("data: {a: yes}\n"));
      expect(item).to.have.deep.property("problems", [
        { line: 5, column: 8, message: "data.a: must be a string, found true", field: "data.a" },
      ]);
    });

    it("aliases and merge keys are resolved, and keys that are written or merged earlier win", async () => {
      expect(await readData("data:\n  <<: &base {a: base, b: base}\n  b: own\n")).to.deep.equal({
        b: "own",
        a: "base",
      });
      expect(await readData("data:\n  <<: [{a: first}, {a: second, b: second}]\n")).to.deep.equal({
        a: "first",
        b: "second",
      });
      expect(await readData("data:\n  a: &x text\n  b: *x\n")).to.deep.equal({ a: "text", b: "text" });
      const [quoted] = await readItems(configMap('data:\n  "<<": quoted\n'));
      expect(quoted).to.have.nested.property("problems[0].message").that.contains('the key "<<"');
    });

    it("a field named __proto__ stays a field", async () => {
      const data = await readData("data:\n  __proto__: x\n");
      expect(Object.entries(data as object)).to.deep.equal([["__proto__", "x"]]);
    });
  });

  describe("documents that cannot be read", () => {
    const cases: readonly (readonly [what: string, text: string, expected: RegExp])[] = [
      ["a tab as indentation", "a:\n\tb: 1\n", /^2:1 Tabs are not allowed as indentation/],
      ["an unclosed bracket", "a: [1,\n", /^\d+:\d+ .*\]/],
      ["an unclosed quote", 'a: "x\n', /^\d+:\d+ Missing closing "quote/],
      ["a repeated key", "a: 1\nb:\n  c: 1\n  c: 2\n", /^4:3 duplicate key "c" in this map$/],
      ["an unknown tag", "a: !thing x\n", /^1:4 .*!thing/],
      ["an alias without anchor", "a: *b\n", /^1:4 the alias \*b refers to no anchor before it$/],
      [
        "an alias inside its anchor",
        "a: &b [*b]\n",
        /^1:8 the alias \*b refers to the value that contains it$/,
      ],
      ["a map as a key", "? {a: b}\n: c\n", /^1:3 a key must be text$/],
      ["no key", "~: c\n", /^1:1 a key must be text$/],
      ["a number that JSON cannot hold", "a: .inf\n", /^1:4 \.inf is not a number that JSON can hold$/],
      ["a merge of text", "<<: x\n", /^1:1 the value of a merge key/],
    ];
    for (const [what, text, expected] of cases) {
      it(`a document with ${what} is rejected at its line and column`, async () =>
        expect(await readFault(text)).to.match(expected));
    }

    it("values nested too deep are rejected, by brackets, dashes or indentation", async () => {
      const deep = Array.from({ length: 200 }, (_, level) => `${" ".repeat(level)}a:\n`).join("");
      for (const text of [
        `a: ${"[".repeat(100_000)}`,
        "- ".repeat(100_000),
        `${deep}${" ".repeat(200)}a: 1\n`,
      ]) {
        expect(await readFault(text)).to.match(/must not be nested deeper than 128 levels$/);
      }
    });

    it("an alias that expands to too many values is rejected", async () => {
      const levels = Array.from({ length: 12 }, (_, level) => {
        const names = Array.from({ length: 10 }, () => (level === 0 ? "x" : `*l${level - 1}`));
        return `l${level}: &l${level} [${names.join(", ")}]\n`;
      });
      expect(await readFault(levels.join(""))).to.match(/^7:\d+ the document has more than 2000000 values/);
    });

    it("a merge key that expands to too many values is rejected", async () => {
      const levels = Array.from({ length: 12 }, (_, level) => {
        const names = Array.from({ length: 10 }, () => (level === 0 ? "{k: v}" : `*l${level - 1}`));
        return `l${level}: &l${level}\n  <<: [${names.join(", ")}]\n`;
      });
      expect(await readFault(levels.join(""))).to.match(/the document has more than 2000000 values/);
    });
  });

  describe("invalid objects", () => {
    it("a problem of an invalid object has the place of its field", async () => {
      const text = [
        "apiVersion: networking.k8s.io/v1",
        "kind: Ingress",
        "metadata:",
        "  name: web",
        "  annotations:",
        "    example.com/a.b: 7",
        "spec:",
        "  rules:",
        "    - host: example.com",
        "      http:",
        "        paths:",
        "          - path: /",
        "            pathType: Everything",
        "            backend: {service: {name: web, port: {number: 80}}}",
        "          - path: /b",
        "            pathType: Exact",
        "            backend: {service: {name: web, port: {number: 80}}}",
        "            extra: 1",
      ].join("\n");
      const [item] = await readItems(text);
      if (item?.type !== "invalid") throw new Error("must be invalid");
      expect(item.ref).to.deep.equal({ kind: "Ingress", namespace: "default", name: "web" });
      const places = item.problems.map(
        ({ line, column, message }) => `${line}:${column} ${message.split(": ")[0]}`,
      );
      expect(places).to.include.members([
        '6:5 metadata.annotations["example.com/a.b"]',
        "13:13 spec.rules[0].http.paths[0].pathType",
      ]);
    });

    it("a missing field is reported at the level around it", async () => {
      const [item] = await readItems("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n");
      expect(item).to.deep.include({ type: "invalid", line: 1, column: 1 });
      expect(item).to.have.deep.property("problems", [
        { line: 3, column: 1, message: "metadata.name: is required", field: "metadata.name" },
      ]);
      expect(item).not.to.have.property("key");
    });

    it("a problem of a usable object is a warning", async () => {
      const [item] = await readItems(configMap("extra: 1\n"));
      expect(item).to.have.deep.property("warnings", [
        { line: 5, column: 1, message: "extra: unknown field", field: "extra" },
      ]);
    });

    it("a problem of a Secret does not quote its text", async () => {
      const [item] = await readItems(
        'apiVersion: v1\nkind: Secret\nmetadata: {name: one}\ndata: {a: "plain text!"}\nstringData: {b: 7}\n',
      );
      expect(item).to.have.deep.property("problems", [
        { line: 4, column: 8, message: "data.a: must be base64 text", field: "data.a" },
        { line: 5, column: 14, message: "stringData.b: must be a string", field: "stringData.b" },
      ]);
    });

    it("a value that is not an object is invalid at its place", async () => {
      const [item] = await readItems("- just\n- a list\n");
      expect(item).to.have.deep.property("problems", [
        { line: 1, column: 1, message: "must be an object, found a list" },
      ]);
    });

    it("an annotation of 10 MB is invalid", async () => {
      const [item] = await readItems(
        `apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  annotations:\n    big: "${"x".repeat(10_000_000)}"\nspec: {ports: [{port: 80}]}\n`,
      );
      if (item?.type !== "invalid") throw new Error("must be invalid");
      const [problem] = item.problems;
      expect(problem).to.deep.include({ line: 5, column: 3 });
      expect(problem?.message).to.match(/^metadata\.annotations: must be at most 262144 bytes/);
    });
  });

  describe("lists", () => {
    const lists = {
      "v1 List":
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n",
      "a list of its kind":
        "apiVersion: v1\nkind: ConfigMapList\nmetadata: {}\nitems:\n- metadata: {name: a}\n",
      "a list in a list":
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]\n",
    };
    for (const [what, text] of Object.entries(lists)) {
      it(`the items of ${what} are read`, async () => {
        const items = await readItems(text);
        expect(items.map((item) => item.type === "object" && item.key)).to.deep.equal([
          "/ConfigMap/default/a",
        ]);
      });
    }

    it("every item of a list has its place, and valid items are used beside invalid ones", async () => {
      const items = await readItems(
        "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n  data: 7\n- 3\n",
      );
      expect(items.map(({ type, line, column }) => [type, line, column])).to.deep.equal([
        ["object", 4, 3],
        ["invalid", 5, 3],
        ["invalid", 7, 3],
      ]);
      expect(items[1]).to.have.deep.property("problems", [
        { line: 6, column: 3, message: "data: must be an object, found 7", field: "data" },
      ]);
    });

    it("a kind that ends in List but has no items is an ordinary object", async () => {
      const [item] = await readItems("apiVersion: v1\nkind: Wishlist\nmetadata: {name: a}\n");
      expect(item).to.deep.include({ type: "ignored", kind: "Wishlist" });
    });
  });
});
