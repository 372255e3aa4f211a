import { expect } from "chai";
import { containerOf, find, helm, notes, podOf, refusal, render, type Manifest } from "./helm.ts";

const workloads = ["svc-controller", "svc-shared-proxy"];

describe("what the chart says of its pods", function () {
  // Each rendering runs Helm.
  this.timeout(120_000);
  before(function () {
    if (helm === undefined) this.skip();
  });

  it("the notes name a budget that lets no pod be evicted", () => {
    const blocked = (...values: readonly string[]): readonly string[] =>
      Array.from(
        notes(...values).matchAll(/^(\S+ is \S+ with \d+ pods): no pod may be evicted/gm),
        ([, text = ""]) => text,
      );
    expect(
      blocked("controller.disruptionBudget.minAvailable=2", "sharedProxy.disruptionBudget.maxUnavailable=0"),
    ).to.deep.equal([
      "controller.disruptionBudget.minAvailable is 2 with 2 pods",
      "sharedProxy.disruptionBudget.maxUnavailable is 0 with 2 pods",
    ]);
    const scaled = 'sharedProxy.autoscaling={"enabled":true,"minReplicas":3}';
    expect(blocked(scaled, 'sharedProxy.disruptionBudget.minAvailable="67%"')).to.deep.equal([
      "sharedProxy.disruptionBudget.minAvailable is 67% with 3 pods",
    ]);
    expect(blocked(scaled, "sharedProxy.disruptionBudget.minAvailable=2")).to.deep.equal([]);
    expect(
      blocked(
        'sharedProxy.disruptionBudget={"enabled":false,"minAvailable":9}',
        'controller.disruptionBudget.minAvailable="50%"',
      ),
    ).to.deep.equal([]);
    expect(
      blocked('sharedProxy.kind="DaemonSet"', 'sharedProxy.disruptionBudget.minAvailable="100%"'),
    ).to.deep.equal([]);
  });

  it("the ids of pods are those of the values, also of dedicated ones, and none where a value is null", () => {
    const defaults = render();
    const changed = render([
      "podSecurityContext.runAsUser=null",
      "podSecurityContext.runAsGroup=0",
      "podSecurityContext.fsGroup=1000660000",
    ]);
    const dedicated = (manifests: readonly Manifest[]): unknown => {
      const { args } = containerOf(find(manifests, "Deployment", "svc-controller"));
      const flag = "--dedicated-pod-template=";
      const template = args.find((one) => one.startsWith(flag))?.slice(flag.length) ?? "";
      return (JSON.parse(template) as { spec: Record<string, unknown> }).spec["securityContext"];
    };
    for (const name of workloads) {
      expect(podOf(find(defaults, "Deployment", name)).spec["securityContext"]).to.deep.include({
        runAsNonRoot: true,
        runAsUser: 65_532,
        runAsGroup: 65_532,
        fsGroup: 65_532,
      });
      expect(podOf(find(changed, "Deployment", name)).spec["securityContext"])
        .to.deep.include({ runAsNonRoot: true, runAsGroup: 0, fsGroup: 1_000_660_000 })
        .and.not.have.property("runAsUser");
    }
    expect(dedicated(defaults)).to.equal(undefined);
    expect(dedicated(changed)).to.deep.equal({ runAsUser: null, runAsGroup: 0, fsGroup: 1_000_660_000 });
    expect(refusal("podSecurityContext.runAsUser=0")).to.include("runAsUser");
  });
});
