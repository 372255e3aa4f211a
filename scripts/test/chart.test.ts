import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { definitionOf, kindNames } from "../../operator/src/api/kinds.ts";
import { readinessTimes } from "../../operator/src/translate/gateway/dedicated/pod.ts";
import { provisionedKinds } from "../../operator/src/sources/kubernetes/provisioned-objects.ts";
import { chartFlags } from "../generate-chart-schema.ts";
import { valueRows } from "../generate-chart-values.ts";

const chart = new URL("../../config/chart/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, chart), "utf8");

describe("the chart", () => {
  describe("permissions", () => {
    type Rule = {
      /** Absent of rules about other URLs. */
      readonly apiGroups?: readonly string[];
      readonly resources?: readonly string[];
      readonly verbs: readonly string[];
      readonly resourceNames?: readonly string[];
    };
    type Role = { readonly kind: string; readonly rules: readonly Rule[] };

    /** The roles without their templates, none of which stands among the rules. */
    const roles = parseAllDocuments(
      read("templates/rbac.yaml")
        .replaceAll(/^ *\{\{- (?:if|else|end|with|range).*?\}\}\n/gm, "")
        .replaceAll(/\{\{.*?\}\}/g, "x: y"),
    )
      .map((document) => document.toJS() as Role)
      .filter(({ kind }) => kind === "ClusterRole" || kind === "Role");

    /** Grants as `group/resource verb`. */
    const grantsOf = (kind: string): readonly string[] =>
      roles
        .filter((role) => role.kind === kind)
        .flatMap(({ rules }) => rules)
        .flatMap(({ apiGroups = [], resources = [], verbs }) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
          ),
        );

    it("let the controller follow every kind that it reads, and no other", () => {
      const followed = kindNames.map((kind) => {
        const { group, plural } = definitionOf(kind);
        return `${group}/${plural} watch`;
      });
      const made = Object.values(provisionedKinds).map(
        ({ apiVersion, plural }) => `${apiVersion.replace(/\/?v\d+$/, "")}/${plural} watch`,
      );
      const expected = [...new Set([...followed, ...made, "/nodes watch", "/pods watch"])];
      const watched = grantsOf("ClusterRole").filter((grant) => grant.endsWith(" watch"));
      expect(watched).to.have.members(expected);
      expect(grantsOf("ClusterRole").filter((grant) => grant.endsWith(" list"))).to.have.members(
        expected.map((grant) => grant.replace(/ watch$/, " list")),
      );
    });

    it("use no wildcard, and let nothing be deleted but what is made for Gateways", () => {
      const grants = [...grantsOf("ClusterRole"), ...grantsOf("Role")];
      expect(grants.length).to.be.above(20);
      for (const grant of grants) expect(grant).to.not.include("*");
      const made = Object.values(provisionedKinds).map(
        ({ apiVersion, plural }) => `${apiVersion.replace(/\/?v\d+$/, "")}/${plural} delete`,
      );
      expect(grants.filter((grant) => grant.includes("delete"))).to.have.members([
        ...made,
        "/configmaps delete",
      ]);
      // Of ConfigMaps only the copies of one.
      const named = roles.flatMap(({ rules }) => rules).filter(({ resourceNames }) => resourceNames);
      expect(named.map(({ resources, resourceNames }) => [resources, resourceNames])).to.deep.equal([
        [["configmaps"], ["svc-discovery-trust"]],
      ]);
    });
  });

  it("has no flag that its templates set themselves", () => {
    const templates = read("templates/controller.yaml") + read("templates/shared-proxy.yaml");
    const own = [...templates.matchAll(/--([a-z][a-z-]*)[=\n]/g)].map(([, name]) => name);
    expect(own).to.include.members(["log", "shared"]);
    expect([...chartFlags("controller"), ...chartFlags("proxy")]).to.not.include.members(own);
  });

  it("asks shared proxies as often as the controller has proxies of single Gateways asked", () => {
    type Values = { readonly sharedProxy: { readonly readinessProbe: object } };
    const values = parseAllDocuments(read("values.yaml"))[0]?.toJS() as Values | undefined;
    expect(values?.sharedProxy.readinessProbe).to.deep.equal(readinessTimes);
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
