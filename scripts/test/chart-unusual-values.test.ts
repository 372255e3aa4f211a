import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { chartFolder, containerOf, find, helm, notes, podOf, refusal, render } from "./helm.ts";

describe("unusual values of the chart", function () {
  // Each rendering runs Helm.
  this.timeout(120_000);
  before(function () {
    if (helm === undefined) this.skip();
  });

  it("a namespace, class or priority whose name YAML reads as a number or a boolean is a text", () => {
    const values = [
      'controller.flags={"watch-namespace":"456,true"}',
      'ingressClass.name="1e3"',
      'gatewayClass.name="null"',
      'controller.priorityClassName="0"',
    ];
    const apis = ["--api-versions", "gateway.networking.k8s.io/v1/GatewayClass"];
    const manifests = render(values, [...apis, "--namespace", "123"]);
    const names = manifests.flatMap(({ metadata }) => [metadata.name, metadata.namespace ?? ""]);
    expect(names.filter((name) => typeof name !== "string")).to.deep.equal([]);
    expect(names).to.include.members(["1e3", "null", "456", "true"]);
    const subjects = manifests.flatMap((manifest) => ("subjects" in manifest ? manifest.subjects : []));
    expect(subjects).to.have.length(5);
    for (const subject of subjects as readonly object[]) expect(subject).to.include({ namespace: "123" });
    expect(podOf(find(manifests, "Deployment", "svc-controller")).spec["priorityClassName"]).to.equal("0");
  });

  it("a version with build metadata is written into labels and tags with the characters that these allow", () => {
    const chart = mkdtempSync(join(tmpdir(), "svc-gateway-chart-"));
    cpSync(chartFolder, chart, { recursive: true });
    const file = join(chart, "Chart.yaml");
    const version = `1.2.3-rc.1+${"build.".repeat(10)}5`;
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/(ersion:) 0\.1\.0/g, `$1 ${version}`));
    const manifests = render([], [], chart);
    rmSync(chart, { recursive: true });
    const labels = manifests.flatMap((manifest) => Object.values(manifest.metadata.labels ?? {}));
    expect(labels).to.include("svc-gateway-1.2.3-rc.1_build.build.build.build.build.build.buil");
    for (const label of labels) expect(label).to.match(/^[\w.-]{1,63}$/);
    expect(containerOf(find(manifests, "Deployment", "svc-controller")).image).to.match(/:[\w.-]{1,63}$/);
  });

  it("the notes say who may scrape the metrics, where monitors are made and no peer is named", () => {
    const closed = "Only pods in namespace svc-system may reach the metrics";
    const monitors = "podMonitor.enabled=true";
    expect(notes()).to.include("Nothing scrapes the metrics").and.not.include(closed);
    expect(notes(monitors)).to.include(closed).and.not.include("Nothing scrapes");
    expect(notes(monitors, "networkPolicy.admin=false")).to.not.include(closed);
    const peer = 'networkPolicy.adminPeers=[{"namespaceSelector":{"matchLabels":{"team":"monitoring"}}}]';
    expect(notes(monitors, peer)).to.not.include(closed);
  });

  it("a map of the values that is left empty is none", () => {
    const maps = [
      "controller.flags",
      "sharedProxy.flags",
      "sharedProxy.lifecycle",
      "commonLabels",
      "commonAnnotations",
    ];
    expect(refusal(...maps.map((value) => `${value}=null`))).to.equal("");
  });
  it("the grace period of proxies is longer than their drain and a preStop hook take", () => {
    const inTime: readonly string[] = [
      "sharedProxy.terminationGracePeriodSeconds=36",
      'sharedProxy.flags={"proxy-shutdown-grace-period":"39s"}',
      'sharedProxy.flags={"proxy-shutdown-grace-period":0,"proxy-shutdown-timeout":".5m8s500ms"}',
      'sharedProxy.lifecycle={"preStop":{"sleep":{"seconds":9}}}',
    ];
    for (const value of inTime) expect(refusal(value), value).to.equal("");
    const late: readonly (readonly [seconds: number, value: string])[] = [
      [35, "sharedProxy.terminationGracePeriodSeconds=35"],
      [45, 'sharedProxy.flags={"proxy-shutdown-grace-period":"39.5s"}'],
      [125, 'sharedProxy.flags={"proxy-shutdown-grace-period":"2m"}'],
      [3667, 'sharedProxy.flags={"proxy-shutdown-grace-period":0,"proxy-shutdown-timeout":"1h1m1.5s"}'],
      [45, 'sharedProxy.lifecycle={"preStop":{"sleep":{"seconds":10}}}'],
    ];
    for (const [seconds, value] of late)
      expect(refusal(value), value).to.match(
        new RegExp(`sharedProxy.terminationGracePeriodSeconds is \\d+, expected more than ${seconds}:`),
      );
  });
});
