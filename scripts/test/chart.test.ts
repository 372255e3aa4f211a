import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { definitionOf, kindNames } from "../../operator/src/api/kinds.ts";
import { readinessTimes } from "../../operator/src/translate/gateway/dedicated/pod.ts";
import { ingressNginxLeaseNames } from "../../operator/src/sources/kubernetes/ingress-nginx-leases.ts";
import { provisionedKinds } from "../../operator/src/sources/kubernetes/provisioned-objects.ts";
import { rulesOf, type Need, type Place, type Rule } from "../generate-chart-rules.ts";
import { chartFlags, completeSchema } from "../generate-chart-schema.ts";
import { valueRows } from "../generate-chart-readme.ts";
import { find, containerOf, helm, refusal, render, type Manifest } from "./helm.ts";

const chart = new URL("../../config/chart/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, chart), "utf8");

describe("the chart", () => {
  describe("permissions", () => {
    const rules = rulesOf("svc-discovery-ca");

    /** Grants as `group/resource verb`. */
    const grantsOf = (given: readonly Pick<Rule, "group" | "resources" | "verbs">[]): readonly string[] =>
      given.flatMap(({ group, resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
      );
    const needing = (...needs: readonly Need[]): readonly Rule[] =>
      rules.filter(({ need }) => need === "always" || needs.includes(need));

    it("the controller may watch every kind that it reads, and no other", () => {
      const followed = kindNames.map((kind) => {
        const { group, plural } = definitionOf(kind);
        return `${group}/${plural} watch`;
      });
      const made = Object.values(provisionedKinds).map(
        ({ apiVersion, plural }) => `${apiVersion.replace(/\/?v\d+$/, "")}/${plural} watch`,
      );
      const expected = new Set([...followed, ...made, "/nodes watch", "/pods watch"]);
      const all = grantsOf(rules);
      expect(new Set(all.filter((grant) => grant.endsWith(" watch")))).to.deep.equal(expected);
      expect(new Set(all.filter((grant) => grant.endsWith(" list")))).to.deep.equal(
        new Set([
          ...[...expected].map((grant) => grant.replace(/ watch$/, " list")),
          "coordination.k8s.io/leases list",
        ]),
      );
    });

    it("of the Leases outside the own namespace, only those of ingress-nginx may be read, and only beside its classes", () => {
      const leases = rules.filter(({ place, resources }) => place !== "own" && resources.includes("leases"));
      expect(leases.map(({ need, verbs, names }) => ({ need, verbs, names }))).to.deep.equal([
        { need: "ingressNginx", verbs: ["list"], names: [...ingressNginxLeaseNames] },
      ]);
    });

    it("permissions are cluster-wide only for kinds without a namespace", () => {
      for (const kind of kindNames) {
        const { group, plural, namespaced } = definitionOf(kind);
        const places = rules
          .filter(
            (rule) => rule.group === group && rule.resources.includes(plural) && rule.names === undefined,
          )
          .filter(({ verbs }) => verbs.includes("watch"))
          .map(({ place }) => place);
        expect(places, kind).to.deep.equal([namespaced ? "read" : "cluster"]);
      }
    });

    it("permissions have no wildcard, and delete only objects that are made for Gateways", () => {
      const grants = grantsOf(rules);
      expect(grants.length).to.be.above(20);
      for (const grant of grants) expect(grant).to.not.include("*");
      const made = Object.values(provisionedKinds).map(
        ({ apiVersion, plural }) => `${apiVersion.replace(/\/?v\d+$/, "")}/${plural} delete`,
      );
      const deleted = new Set(grants.filter((grant) => grant.includes("delete")));
      expect(deleted).to.deep.equal(new Set([...made, "/configmaps delete"]));
      // Of ConfigMaps only the copies of one.
      const ofMaps = rules.filter(
        ({ resources, verbs }) => resources.includes("configmaps") && verbs.includes("delete"),
      );
      expect(ofMaps.map(({ names }) => names)).to.deep.equal([["svc-discovery-trust"]]);
    });

    it("permissions for workloads are granted only with dedicated Gateways", () => {
      const workloads =
        /^(apps|autoscaling|policy)\/|^\/serviceaccounts|^\/(services|configmaps) (create|delete|patch)/;
      const without = needing("ingress", "gatewayApi", "vips", "adminAuth").filter(
        ({ place }) => place !== "own",
      );
      expect(grantsOf(without).filter((grant) => workloads.test(grant))).to.deep.equal([]);
      expect(grantsOf(without).filter((grant) => grant.startsWith("/pods"))).to.deep.equal([]);
      expect(grantsOf(rules).filter((grant) => workloads.test(grant))).to.not.deep.equal([]);
    });

    it("without the Gateway API, only ReferenceGrants of it may be read", () => {
      const ofApi = (given: readonly Rule[]): readonly string[] =>
        grantsOf(given).filter((grant) => grant.startsWith("gateway.networking.k8s.io/"));
      expect(ofApi(needing("ingress", "adminAuth"))).to.deep.equal([
        "gateway.networking.k8s.io/referencegrants get",
        "gateway.networking.k8s.io/referencegrants list",
        "gateway.networking.k8s.io/referencegrants watch",
      ]);
      expect(
        grantsOf(needing("gatewayApi")).filter((grant) => /\/ingress(es|classes)/.test(grant)),
      ).to.deep.equal([]);
    });

    it("permissions in the own namespace name their objects, where a role can and the name is known", () => {
      const unnamed = rules.filter(({ place, names }) => place === "own" && names === undefined);
      expect(grantsOf(unnamed)).to.have.members([
        "/configmaps create",
        "/secrets create",
        "coordination.k8s.io/leases create",
        "/pods get",
        "/pods list",
        "/pods watch",
        "events.k8s.io/events create",
        "events.k8s.io/events get",
        "events.k8s.io/events patch",
        "/services create",
        "/services delete",
        "/services get",
        "/services patch",
      ]);
    });
  });

  describe("the rendered chart", () => {
    before(function () {
      if (helm === undefined) this.skip();
    });

    const grantsIn = (manifests: readonly Manifest[], kind: string, namespace?: string): readonly string[] =>
      manifests
        .filter((one) => one.kind === kind && one.metadata.namespace === namespace)
        .filter(({ metadata }) => !metadata.name.endsWith("-admin-reader"))
        .flatMap(({ rules = [] }) => rules)
        .flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) =>
              verbs.map((verb) => `${group}/${resource} ${verb} ${resourceNames?.join() ?? ""}`),
            ),
          ),
        );
    const expected = (places: readonly Place[], needs: readonly Need[]): readonly string[] =>
      rulesOf("svc-discovery-ca")
        .filter(({ place, need }) => places.includes(place) && (need === "always" || needs.includes(need)))
        .flatMap(({ group, resources, names, verbs }) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => `${group}/${resource} ${verb} ${names?.join() ?? ""}`),
          ),
        );
    const flagsOf = (manifests: readonly Manifest[]): readonly string[] =>
      containerOf(find(manifests, "Deployment", "svc-controller")).args;

    const whole: readonly Place[] = ["cluster", "read", "served"];
    const cases: readonly (readonly [string, readonly string[], readonly Need[]])[] = [
      ["by default", [], ["ingress", "gatewayApi", "vips", "dedicated"]],
      ["without dedicated Gateways", ["dedicatedGateways.enabled=false"], ["ingress", "gatewayApi", "vips"]],
      ["without the Gateway API", ['controller.flags={"disable-gateway-api":true}'], ["ingress"]],
      [
        "without Ingresses",
        ['controller.flags={"disable-ingress":"true"}'],
        ["gatewayApi", "vips", "dedicated"],
      ],
      [
        "without Services of shared Gateways",
        ['controller.flags={"shared-proxy-selector":""}'],
        ["ingress", "gatewayApi", "dedicated"],
      ],
      [
        "with classes of ingress-nginx",
        ['controller.flags={"ingress-nginx-classes":"nginx"}'],
        ["ingress", "gatewayApi", "vips", "dedicated", "ingressNginx"],
      ],
      [
        "without classes of ingress-nginx",
        ['controller.flags={"ingress-nginx-classes":""}'],
        ["ingress", "gatewayApi", "vips", "dedicated"],
      ],
      [
        "with tokens asked for",
        ["adminAuth.controllers=true"],
        ["ingress", "gatewayApi", "vips", "dedicated", "adminAuth"],
      ],
    ];
    for (const [what, values, needs] of cases) {
      it(`the roles grant what the values need, and nothing else: ${what}`, () => {
        const manifests = render(values);
        expect(grantsIn(manifests, "ClusterRole")).to.have.members(expected(whole, needs));
        expect(grantsIn(manifests, "Role")).to.have.members(expected(["own"], needs));
      });
    }

    it("watch-namespace puts Roles into its namespaces, and the flags of the controllers name them", () => {
      const manifests = render([
        'controller.flags={"watch-namespace":"shop, blog"}',
        'controller.referenceNamespaces=["lib"]',
      ]);
      const needs: readonly Need[] = ["ingress", "gatewayApi", "vips", "dedicated", "namespaced"];
      expect(grantsIn(manifests, "ClusterRole")).to.have.members(expected(["cluster"], needs));
      for (const namespace of ["shop", "blog"])
        expect(grantsIn(manifests, "Role", namespace)).to.have.members(expected(["read", "served"], needs));
      for (const namespace of ["lib", "svc-system"])
        expect(grantsIn(manifests, "Role", namespace)).to.have.members(expected(["read"], needs));
      expect(grantsIn(manifests, "Role")).to.have.members(expected(["own"], needs));
      expect(flagsOf(manifests)).to.include("--read-namespace=blog,lib,shop,svc-system");
      expect(flagsOf(render()).filter((flag) => flag.includes("namespace"))).to.deep.equal([]);
    });

    it("rbac.namespaced gives the Roles of watch-namespace, and no object of the roles is cluster-wide", () => {
      const manifests = render([
        'controller.flags={"watch-namespace":"shop"}',
        "rbac.namespaced=true",
        'ingressClass.name="edge"',
      ]);
      const needs: readonly Need[] = ["ingress", "gatewayApi", "vips", "dedicated", "namespaced"];
      expect(manifests.filter(({ kind }) => kind.startsWith("ClusterRole"))).to.deep.equal([]);
      expect(grantsIn(manifests, "Role", "shop")).to.have.members(expected(["read", "served"], needs));
      expect(grantsIn(manifests, "Role", "svc-system")).to.have.members(expected(["read"], needs));
      expect(grantsIn(manifests, "Role")).to.have.members(expected(["own"], needs));
      expect(flagsOf(manifests)).to.include.members([
        "--disable-cluster-scope",
        "--read-namespace=shop,svc-system",
        "--watch-namespace=shop",
        "--ingress-class=edge",
        "--gateway-class=svc",
      ]);
    });

    it("rbac.namespaced leaves classes that flags name, and needs no cluster-scoped object of the chart", () => {
      const off = ["ingressClass", "gatewayClass", "crds", "vap"].map((value) => `${value}.enabled=false`);
      const flags = { "watch-namespace": "shop", "ingress-class": "a", "gateway-class": "b" };
      const manifests = render([
        `controller.flags=${JSON.stringify(flags)}`,
        "rbac.namespaced=true",
        "podMonitor.enabled=true",
        "prometheusRule.enabled=true",
        "sharedProxy.autoscaling.enabled=true",
        ...off,
      ]);
      expect(flagsOf(manifests).filter((flag) => flag.includes("-class="))).to.deep.equal([
        "--gateway-class=b",
        "--ingress-class=a",
      ]);
      const clusterScoped =
        /^(Cluster|CustomResource|IngressClass|GatewayClass|Validating|PriorityClass|Namespace$)/;
      expect(manifests.map(({ kind }) => kind).filter((kind) => clusterScoped.test(kind))).to.deep.equal([]);
    });

    it("rbac.namespaced is refused without namespaces, and with what needs cluster rights", () => {
      expect(refusal("rbac.namespaced=true")).to.include("controller.flags.watch-namespace");
      expect(
        refusal(
          "rbac.namespaced=true",
          'controller.flags={"watch-namespace":"shop"}',
          "adminAuth.controllers=true",
        ),
      ).to.include("adminAuth.controllers is true with rbac.namespaced");
    });
  });

  it("the values of the chart have no flag that its templates set", () => {
    const templates = read("templates/controller.yaml") + read("templates/shared-proxy.yaml");
    const own = [...templates.matchAll(/--([a-z][a-z-]*)[=\n]/g)].map(([, name]) => name);
    expect(own).to.include.members(["log", "shared"]);
    expect([...chartFlags("controller"), ...chartFlags("proxy")]).to.not.include.members(own);
  });

  it("the readiness probe of shared proxies equals that of dedicated proxies", () => {
    type Values = { readonly sharedProxy: { readonly readinessProbe: object } };
    const values = parseAllDocuments(read("values.yaml"))[0]?.toJS() as Values | undefined;
    expect(values?.sharedProxy.readinessProbe).to.deep.equal(readinessTimes);
  });

  it("every value of the chart is explained", () => {
    const values = parseAllDocuments(read("values.yaml"))[0]?.toJS() as object;
    const schema = completeSchema(read("values.schema.json"), read("values.yaml"));
    const rows = new Set(valueRows(schema).map(({ name }) => name));
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
