import { readFileSync } from "node:fs";
import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import type { AnnotationDefinition } from "../../common/src/features/definition.ts";
import { annotations } from "../../common/src/features/registry.ts";
import { definitionOf, kindNames } from "../../operator/src/api/kinds.ts";
import { formOf, rulesOf } from "../generate-chart-admission.ts";
import { chartFlags } from "../generate-chart-schema.ts";
import { valueRows } from "../generate-chart-values.ts";

const chart = new URL("../../config/chart/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, chart), "utf8");

describe("the chart", () => {
  describe("permissions", () => {
    type Rule = {
      readonly apiGroups: readonly string[];
      readonly resources: readonly string[];
      readonly verbs: readonly string[];
    };
    type Role = { readonly kind: string; readonly rules: readonly Rule[] };

    /** The roles without their templates, none of which stands among the rules. */
    const roles = parseAllDocuments(read("templates/rbac.yaml").replaceAll(/\{\{.*?\}\}/g, "x: y"))
      .map((document) => document.toJS() as Role)
      .filter(({ kind }) => kind === "ClusterRole" || kind === "Role");

    /** Grants as `group/resource verb`. */
    const grantsOf = (kind: string): readonly string[] =>
      roles
        .filter((role) => role.kind === kind)
        .flatMap(({ rules }) => rules)
        .flatMap(({ apiGroups, resources, verbs }) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
          ),
        );

    it("let the controller follow every kind that it reads, and no other", () => {
      const expected = kindNames.map((kind) => {
        const { group, plural } = definitionOf(kind);
        return `${group}/${plural} watch`;
      });
      const watched = grantsOf("ClusterRole").filter((grant) => grant.endsWith(" watch"));
      expect(watched).to.have.members(expected);
      expect(grantsOf("ClusterRole").filter((grant) => grant.endsWith(" list"))).to.have.members(
        expected.map((grant) => grant.replace(/ watch$/, " list")),
      );
    });

    it("use no wildcard, and let nothing be deleted but Services of the install namespace", () => {
      const grants = [...grantsOf("ClusterRole"), ...grantsOf("Role")];
      expect(grants.length).to.be.above(20);
      for (const grant of grants) expect(grant).to.not.include("*");
      expect(grants.filter((grant) => grant.includes("delete"))).to.deep.equal(["/services delete"]);
      expect(grantsOf("Role")).to.include("/services delete");
    });
  });

  describe("admission policy", () => {
    const matches = (definition: AnnotationDefinition<unknown>, text: string): boolean => {
      const { pattern = "" } = formOf(definition) ?? {};
      const isCaseless = pattern.startsWith("(?i)");
      return new RegExp(pattern.replace(/^\(\?i\)/, ""), isCaseless ? "i" : "").test(text.trim());
    };
    const formed = [...annotations.values()].filter((definition) => formOf(definition) !== undefined);

    /** Texts that are values of some annotation, or nearly. */
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "true",
        "False",
        "http",
        "HTTPS",
        "0",
        "301",
        "308",
        "base",
        "merge-slashes",
        "10.0.0.1",
        "::1",
      ),
      fc
        .tuple(fc.nat(), fc.constantFrom("", "k", "M", "g", "s", "ms", "h", "m30s"))
        .map((parts) => parts.join("")),
      fc
        .tuple(fc.constantFrom("a", "a-b", "A"), fc.constantFrom("b", "b.c", "b/c", ""))
        .map((parts) => parts.join("/")),
      fc.constantFrom("10.0.0.0/8, 2001:db8::/32", "192.0.2.1,", "1.5s", ".5s", "1m30s", "-1"),
    );

    it("never refuses what the controller accepts", () => {
      expect(formed.length).to.be.above(0);
      for (const definition of formed) {
        fc.assert(
          fc.property(text, (value) => {
            const trimmed = value.trim();
            if (trimmed === "" || !definition.parse(trimmed, () => undefined).ok) return;
            expect(matches(definition, value), `${definition.name}: ${value}`).to.equal(true);
          }),
        );
      }
    });

    it("refuses what no form allows", () => {
      for (const definition of formed) {
        for (const value of ["", "?!", "g\nh", "{{ x }}"]) {
          expect(matches(definition, value), `${definition.name}: ${value}`).to.equal(false);
        }
      }
    });

    it("quotes what would end a string of the expression", () => {
      const [rule] = rulesOf([
        { ...(formed[0] as AnnotationDefinition<unknown>), type: "enum", values: ["it's", "a\\b"] },
      ]);
      expect(rule?.expression).to.include(String.raw`(?i)^(it\\\'s|a\\\\b)$`);
    });

    it("asks for the values of an enumeration", () => {
      const { values: _, ...definition } = formed[0] as AnnotationDefinition<unknown>;
      expect(() => formOf({ ...definition, type: "enum" })).to.throw("declares its values");
    });
  });

  it("has no flag that its templates set themselves", () => {
    const templates = read("templates/controller.yaml") + read("templates/shared-proxy.yaml");
    const own = [...templates.matchAll(/--([a-z][a-z-]*)[=\n]/g)].map(([, name]) => name);
    expect(own).to.include.members(["log", "shared"]);
    expect([...chartFlags("controller"), ...chartFlags("proxy")]).to.not.include.members(own);
  });

  it("explains every value", () => {
    const values = parseAllDocuments(read("values.yaml"))[0]?.toJS() as object;
    const rows = new Set(valueRows(read("values.yaml")).map(({ name }) => name));
    const unexplained = (node: object, prefix: string): readonly string[] =>
      Object.entries(node).flatMap(([key, value]: [string, unknown]) => {
        const name = `${prefix}${key}`;
        if (rows.has(name)) return [];
        return value !== null && typeof value === "object" && !Array.isArray(value)
          ? unexplained(value, `${name}.`)
          : [name];
      });
    expect(unexplained(values, "")).to.deep.equal([]);
  });
});
