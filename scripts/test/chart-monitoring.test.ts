import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { chartFolder, find, helm, render } from "./helm.ts";

describe("the monitoring of the chart", function () {
  // Each rendering runs Helm.
  this.timeout(120_000);
  before(function () {
    if (helm === undefined) this.skip();
  });

  it("monitors select controllers and proxies, and authorize themselves to controllers only", () => {
    const authorization = { credentials: { name: "token", key: "token" } };
    const manifests = render([
      'podMonitor={"enabled":true,"labels":{"release":"prometheus"},"interval":"15s"}',
      `podMonitor.controllerAuthorization=${JSON.stringify(authorization)}`,
      "serviceMonitor.enabled=true",
    ]);
    const { metadata, spec } = find(manifests, "PodMonitor", "svc-controllers");
    expect(metadata.labels).to.include({ release: "prometheus" });
    expect(spec?.["podMetricsEndpoints"]).to.deep.equal([
      { port: "admin", path: "/metrics", interval: "15s", authorization },
    ]);
    const proxies = find(manifests, "PodMonitor", "svc-proxies").spec;
    expect(proxies?.["namespaceSelector"]).to.deep.equal({ any: true });
    expect(JSON.stringify(proxies)).to.not.include("authorization");
    for (const name of ["svc-controller-metrics", "svc-shared-proxy-metrics"]) {
      const selector = find(manifests, "ServiceMonitor", name).spec?.["selector"] as
        { readonly matchLabels: object } | undefined;
      expect(find(manifests, "Service", name).metadata.labels).to.include(selector?.matchLabels);
    }
  });

  it("dashboards are ConfigMaps with the label of the sidecar, and hold the files unchanged", () => {
    expect(render().filter(({ kind }) => kind === "ConfigMap")).to.deep.equal([]);
    const manifests = render(["dashboards.enabled=true", 'dashboards.annotations={"folder":"edge"}']);
    const maps = manifests.filter(({ kind }) => kind === "ConfigMap");
    expect(maps.map(({ metadata }) => metadata.name)).to.have.members([
      "svc-gateway-proxy-dashboard",
      "svc-gateway-controller-dashboard",
      "svc-gateway-fleet-dashboard",
      "svc-gateway-routes-dashboard",
    ]);
    for (const { metadata, data = {} } of maps) {
      expect(metadata.labels).to.include({ grafana_dashboard: "1" });
      expect(metadata.annotations).to.deep.equal({ folder: "edge" });
      for (const [name, text] of Object.entries(data))
        expect(text).to.equal(readFileSync(`${chartFolder}/dashboards/${name}`, "utf8"));
    }
  });

  it("the PrometheusRule holds the rules of the file, and its runbooks are where the value says", () => {
    type Groups = readonly {
      readonly rules: readonly { readonly annotations?: { runbook_url: string } }[];
    }[];
    const runbooksOf = (groups: unknown): readonly string[] =>
      (groups as Groups).flatMap(({ rules }) =>
        rules.flatMap(({ annotations }) => annotations?.runbook_url ?? []),
      );
    const url = "https://runbooks.example.com/svc";
    const { spec } = find(
      render(["prometheusRule.enabled=true", `prometheusRule.runbookUrl="${url}"`]),
      "PrometheusRule",
      "svc-gateway",
    );
    const file = parse(readFileSync(`${chartFolder}/rules/svc-gateway.yaml`, "utf8")) as { groups: unknown };
    const expected = runbooksOf(file.groups).map((one) => one.replace("docs/runbooks", url));
    expect(expected).to.include(`${url}/SvcProxyBehind.md`);
    expect(runbooksOf(spec?.["groups"])).to.deep.equal(expected);
  });
});
