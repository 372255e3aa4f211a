import { expect } from "chai";
import { definitionOf, kindNames } from "../../../src/api/kinds.ts";
import type { Schema, ValidationRule } from "../../../src/api/schema.ts";
import { compileRule, compileRules, isTransitionRule } from "../../../src/api/validation/rules.ts";
import { createFindings, type SchemaProblem } from "../../../src/api/validation/problem.ts";
import { accepted, problemsOf, warningsOf } from "../expect.ts";
import { gatewayKind } from "../manifests.ts";

const backendRefs = [{ name: "web", port: 80 }];
const route = (rule: object, parentRefs: readonly object[] = [{ name: "edge" }]): unknown =>
  gatewayKind("HTTPRoute", { parentRefs, rules: [rule] });
const gateway = (...listeners: readonly object[]): unknown =>
  gatewayKind("Gateway", { gatewayClassName: "svc", listeners });
const http = { name: "http", port: 80, protocol: "HTTP" };

describe("rules of Gateway API", () => {
  it("a Gateway with every kind of listener is valid", () => {
    const tls = { certificateRefs: [{ name: "cert" }] };
    const manifest = gateway(
      http,
      { name: "https", port: 443, protocol: "HTTPS", hostname: "*.example.com", tls },
      { name: "tls", port: 8443, protocol: "TLS", tls: { mode: "Passthrough" } },
      { name: "tcp", port: 5432, protocol: "TCP" },
      { name: "udp", port: 53, protocol: "UDP" },
    );
    expect(warningsOf(manifest)).to.deep.equal([]);
    expect(accepted(manifest)).to.have.nested.property("spec.listeners[1].tls.mode", "Terminate");
    expect(accepted(manifest)).to.have.nested.property(
      "spec.listeners[0].allowedRoutes.namespaces.from",
      "Same",
    );
  });

  it("an HTTPRoute with matches, filters and backends is valid", () => {
    const manifest = route({
      matches: [{ path: { value: "/shop" }, headers: [{ name: "x-version", value: "2" }], method: "GET" }],
      filters: [
        { type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "a", value: "b" }] } },
        { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } },
        {
          type: "ExtensionRef",
          extensionRef: { group: "gateway.svc-labs.dev", kind: "RateLimit", name: "slow" },
        },
      ],
      backendRefs,
      timeouts: { request: "10s", backendRequest: "2s" },
    });
    expect(warningsOf(manifest)).to.deep.equal([]);
    expect(accepted(manifest)).to.have.nested.property("spec.rules[0].matches[0].path.type", "PathPrefix");
    expect(accepted(manifest)).to.have.nested.property("spec.rules[0].backendRefs[0].weight", 1);
  });

  it("parents of one name in different namespaces are different parents", () => {
    accepted(route({ backendRefs }, [{ name: "edge" }, { name: "edge", namespace: "other" }]));
    expect(problemsOf(route({ backendRefs }, [{ name: "edge" }, { name: "edge" }]))).to.deep.equal([
      "spec.parentRefs: sectionName or port must be unique when parentRefs includes 2 or more references to the same parent",
    ]);
  });

  for (const [problem, manifest] of Object.entries({
    "spec.listeners: hostname must not be specified for protocols ['TCP', 'UDP']": gateway({
      name: "tcp",
      port: 1,
      protocol: "TCP",
      hostname: "a.example.com",
    }),
    "spec.listeners: Combination of port, protocol and hostname must be unique for each listener": gateway(
      http,
      {
        ...http,
        name: "again",
      },
    ),
    "spec.listeners[1]: repeats entry 0 (same name)": gateway(http, { ...http, port: 81 }),
    "spec.listeners[0].port: must be from 1 to 65535, found 0": gateway({ ...http, port: 0 }),
    "spec.rules[0].matches[0].path: must not contain '//' when type one of ['Exact', 'PathPrefix']": route({
      matches: [{ path: { value: "/a//b" } }],
    }),
    "spec.rules[0].backendRefs[0]: Must have port for Service reference": route({
      backendRefs: [{ name: "web" }],
    }),
    "spec.rules[0].filters[0]: filter.extensionRef must be specified for ExtensionRef filter.type": route({
      filters: [{ type: "ExtensionRef" }],
    }),
    "spec.rules[0]: When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified":
      route({
        matches: [{ path: { type: "Exact", value: "/a" } }],
        filters: [
          {
            type: "URLRewrite",
            urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } },
          },
        ],
      }),
    "spec.rules[0].timeouts: backendRequest timeout cannot be longer than request timeout": route({
      backendRefs,
      timeouts: { request: "1s", backendRequest: "2s" },
    }),
    "spec.addresses[0]: must have type IPAddress with value ipv4 or ipv6, or type not IPAddress": gatewayKind(
      "Gateway",
      {
        gatewayClassName: "svc",
        addresses: [{ type: "IPAddress", value: "10.0.0.256" }],
        listeners: [http],
      },
    ),
    "spec.hostnames: Hostnames cannot contain an IP": gatewayKind("TLSRoute", {
      hostnames: ["10.0.0.1"],
      rules: [{ backendRefs }],
    }),
  })) {
    it(`Gateway-API: rejects ${problem}`, () => {
      expect(problemsOf(manifest)).to.deep.equal([problem]);
    });
  }
});

describe("rules", () => {
  const rules = kindNames.flatMap((kind) => rulesOf(definitionOf(kind).schema));

  it("every CEL rule compiles, except those that compare with the old object", () => {
    expect(rules.length).to.be.greaterThan(100);
    const skipped = rules.filter((rule) => isTransitionRule(rule) || compileRule(rule) === undefined);
    expect(skipped.map(({ rule }) => rule)).to.deep.equal(["self == oldSelf"]);
  });

  const broken = (schema: Schema, value: unknown): readonly SchemaProblem[] => {
    const findings = createFindings();
    compileRules(schema)?.(value, findings);
    return findings.errors;
  };
  const withRule = (rule: string, schema: Schema): Schema => ({
    ...schema,
    "x-kubernetes-validations": [{ rule }],
  });

  it("a rule that cannot be compiled or evaluated never fails an object", () => {
    const schema: Schema = { type: "object", properties: { a: { type: "string" } } };
    for (const rule of [
      "self.a ==",
      "unknownFunction(self.a)",
      "self.b == 1",
      "self.a + 1 == 2",
      "1 / 0 == 1",
    ]) {
      expect(broken(withRule(rule, schema), { a: "x" }), rule).to.deep.equal([]);
    }
  });

  it("a failed rule without a message is shown as its CEL text", () => {
    const schema = withRule("self.size() < 2", { type: "string" });
    expect(broken({ type: "object", properties: { a: schema } }, { a: "xyz" })).to.deep.equal([
      { path: "a", message: "breaks the rule self.size() < 2" },
    ]);
  });

  it("a rule sees integers as integers and fields by their escaped names", () => {
    const integer: Schema = { type: "integer" };
    const schema: Schema = {
      type: "object",
      properties: { n: integer, namespace: integer, "a-b.c": integer },
    };
    expect(
      broken(withRule("self.n % 2 == 1 && self.__namespace__ == 4", schema), { n: 3, namespace: 4 }),
    ).to.deep.equal([]);
    expect(broken(withRule("self.n % 2 == 0", schema), { n: 3 })).to.have.length(1);
    expect(broken(withRule("self.a__dash__b__dot__c == 2", schema), { "a-b.c": 1 })).to.have.length(1);
  });

  it("a rule matches patterns in linear time", () => {
    const schema = withRule("self.matches('^(a+)+$')", { type: "string" });
    expect(broken(schema, "a".repeat(50_000))).to.deep.equal([]);
    expect(broken(schema, `${"a".repeat(50_000)}b`)).to.have.length(1);
  });

  function rulesOf(schema: Schema): readonly ValidationRule[] {
    const children = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
    return [
      ...(schema["x-kubernetes-validations"] ?? []),
      ...children.flatMap((child) => (child === undefined ? [] : rulesOf(child))),
    ];
  }
});
