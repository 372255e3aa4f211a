import { expect } from "chai";
import fc from "fast-check";
import { definitionOf, kindNames } from "../../src/api/kinds.ts";
import { validateObject } from "../../src/api/validate.ts";
import { accepted, problemsOf, warningsOf } from "./expect.ts";
import { ingressWith, manifest, ours } from "./manifests.ts";

describe("validateObject", () => {
  it("an unknown kind is reported differently from an invalid object", () => {
    expect(validateObject({ apiVersion: "apps/v1", kind: "Deployment", metadata: {} })).to.deep.equal({
      ok: false,
      error: { reason: "unknown-kind", apiVersion: "apps/v1", kind: "Deployment" },
    });
    expect(validateObject({ apiVersion: "extensions/v1beta1", kind: "Ingress" })).to.deep.include({
      ok: false,
    });
  });

  it("the problem of an unsupported apiVersion names the version to use", () => {
    expect(problemsOf({ apiVersion: "networking.k8s.io/v1beta1", kind: "Ingress" })).to.deep.equal([
      'apiVersion: must be networking.k8s.io/v1 for kind Ingress, found "networking.k8s.io/v1beta1"',
    ]);
  });

  it("a value without apiVersion and kind is invalid", () => {
    expect(problemsOf("hello")).to.deep.equal([': must be an object, found "hello"']);
    expect(problemsOf(null)).to.deep.equal([": must be an object, found null"]);
    expect(problemsOf([])).to.deep.equal([": must be an object, found a list"]);
    expect(problemsOf({ kind: "Ingress" })).to.deep.equal([
      "apiVersion: must name a group and version, found nothing",
    ]);
    expect(problemsOf({ apiVersion: "v1", kind: 3 })).to.deep.equal(["kind: must name a kind, found 3"]);
  });

  it("a long value is shortened in a problem to the part that matters", () => {
    const [problem = ""] = problemsOf(
      ours("SvcExternalAuth", { protocol: "x".repeat(1e6), backendRef: { name: "a", port: 1 } }),
    );
    expect(problem).to.equal(
      `spec.protocol: must be one of HTTP, GRPC, found "${"x".repeat(54)}...${"x".repeat(26)}" (1000000 characters)`,
    );
    const [around] = problemsOf(
      ours("SvcExternalAuth", { protocol: `${"x".repeat(1000)} y`, backendRef: { name: "a", port: 1 } }),
    );
    expect(around).to.equal(
      `spec.protocol: must be one of HTTP, GRPC, found "...${"x".repeat(78)} y" (1002 characters)`,
    );
  });

  it("all problems of an object are reported, up to a bound", () => {
    const paths = Array.from({ length: 200 }, () => ({ path: 1 }));
    const problems = problemsOf(ingressWith({ rule: { http: { paths } } }));
    expect(problems).to.have.length(51);
    expect(problems.at(-1)).to.equal(": more problems follow that are not listed");
  });

  it("the validated object shares no object with the input", () => {
    const input = ours("SvcGatewayParameters", { podTemplate: { spec: { list: [{ a: 1 }] } } });
    const before = structuredClone(input);
    const object = accepted(input);
    expect(input).to.deep.equal(before);
    (input["spec"] as { podTemplate: { spec: { list: { a: number }[] } } }).podTemplate.spec.list[0] = {
      a: 2,
    };
    expect(object).to.deep.equal({ ...before, metadata: { name: "sample", namespace: "shop" } });
  });

  it("every validated object has its own copy of the defaults", () => {
    const first = accepted(ours("RetryPolicy", {})) as unknown as { spec: { codes: number[] } };
    const second = accepted(ours("RetryPolicy", {})) as unknown as { spec: { codes: number[] } };
    expect(first.spec.codes).to.deep.equal(second.spec.codes);
    expect(first.spec.codes).not.to.equal(second.spec.codes);
  });

  describe("hostile input", () => {
    it("a prototype key is reported as an unknown field", () => {
      const text =
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","__proto__":{"x":1}},"__proto__":{"data":{"y":"z"}}}';
      expect(warningsOf(JSON.parse(text))).to.deep.equal([
        "metadata.__proto__: unknown field",
        "__proto__: unknown field",
      ]);
      const object = accepted(JSON.parse(text)) as { data?: unknown };
      expect(object.data).to.equal(undefined);
      expect(Object.getPrototypeOf(object)).to.equal(Object.prototype);
      expect(({} as { x?: unknown }).x).to.equal(undefined);
    });

    it("a prototype key is kept as data where any key is allowed", () => {
      const text =
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}';
      const { data } = accepted(JSON.parse(text)) as { data?: { [key: string]: string } };
      expect(Object.entries(data ?? {})).to.deep.equal([
        ["__proto__", "x"],
        ["constructor", "y"],
      ]);
      expect(Object.getPrototypeOf(data)).to.equal(Object.prototype);
    });

    it("an open field that is nested deeper than 64 levels is invalid", () => {
      let podTemplate: unknown = {};
      for (let level = 0; level < 10_000; level++) podTemplate = { podTemplate };
      expect(problemsOf(ours("SvcGatewayParameters", { podTemplate }))[0]).to.match(
        /must not be nested deeper than 64 levels$/,
      );
    });

    it("a cycle, as a YAML anchor can make one, is invalid", () => {
      const podTemplate: { [key: string]: unknown } = {};
      podTemplate["self"] = podTemplate;
      expect(problemsOf(ours("SvcGatewayParameters", { podTemplate }))).to.have.length(1);
    });

    it("an object that multiplies a shared value, as YAML aliases can, is invalid", () => {
      const leaf = Array.from({ length: 1000 }, () => 1);
      const level = Array.from({ length: 1000 }, () => leaf);
      const problems = problemsOf(
        ours("SvcGatewayParameters", { podTemplate: { level: [level, level, level] } }),
      );
      expect(problems).to.deep.equal([": the object has more than 300000 values"]);
    });

    it("a value that is not JSON is invalid", () => {
      const problems = problemsOf(
        ours("SvcGatewayParameters", { podTemplate: { at: new Date(0), big: 1n } }),
      );
      expect(problems).to.deep.equal([
        "spec.podTemplate: must be a JSON value, found an object",
        "spec.podTemplate: must be a JSON value, found a bigint",
      ]);
      expect(problemsOf(ours("RateLimit", { requestsPerSecond: Number.POSITIVE_INFINITY }))).to.deep.equal([
        "spec.requestsPerSecond: must be a number, found Infinity",
      ]);
    });

    it("a 10 MB annotation is invalid", () => {
      const annotations = { "ingress.svc-labs.dev/rewrite-target": "x".repeat(10_000_000) };
      expect(problemsOf(ingressWith({ metadata: { annotations } }))).to.deep.equal([
        "metadata.annotations: must be at most 262144 bytes in total, keys and values together, found 10000035 bytes",
      ]);
    });
  });

  describe("any JSON", () => {
    it("validation of any JSON value gives a result and does not change the value", () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          const before = structuredClone(value);
          expect(validateObject(value)).to.have.property("ok");
          expect(value).to.deep.equal(before);
        }),
      );
    });

    it("validation gives a result for every kind with any body, and accepts its own result again", () => {
      const fieldNames = kindNames.flatMap((kind) => Object.keys(definitionOf(kind).schema.properties ?? {}));
      const body = fc.dictionary(
        fc.constantFrom(...fieldNames, "__proto__", "x"),
        fc.jsonValue({ maxDepth: 6 }),
      );
      fc.assert(
        fc.property(fc.constantFrom(...kindNames), body, (kind, fields) => {
          const { group, versions } = definitionOf(kind);
          const apiVersion = group === "" ? versions[0] : `${group}/${versions[0]}`;
          const result = validateObject({ ...fields, ...manifest(String(apiVersion), kind, {}) });
          if (!result.ok) return;
          expect(validateObject(result.value.object)).to.deep.equal({
            ok: true,
            value: { object: result.value.object, warnings: [] },
          });
        }),
        { numRuns: 500 },
      );
    });

    it("validation gives a result for an Ingress with one part replaced by any JSON value", () => {
      fc.assert(
        fc.property(fc.jsonValue(), fc.constantFrom("rule", "path", "spec", "metadata"), (value, part) => {
          const replaced =
            value !== null && typeof value === "object" && !Array.isArray(value) ? value : { rules: value };
          expect(
            validateObject(ingressWith({ [part]: replaced as { [key: string]: unknown } })),
          ).to.have.property("ok");
        }),
      );
    });
  });
});
