import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect } from "chai";
import { parse } from "yaml";

const chart = new URL("../../config/chart/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, chart), "utf8");

describe("the schema of the chart's values", () => {
  const ajv = new Ajv({ allErrors: true, strictTuples: false, allowUnionTypes: true, strictTypes: false });
  const validate = ajv.compile(JSON.parse(read("values.schema.json")) as object);

  /** The paths of the mistakes, such as `/image/tag`. */
  const mistakesIn = (values: object): readonly string[] => {
    validate(values);
    return [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))];
  };

  it("the default values of the chart match its schema", () => {
    expect(mistakesIn(parse(read("values.yaml")) as object)).to.deep.equal([]);
  });

  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
  const valid: readonly object[] = [
    { image: { repository: "registry.example.com:5000/svc-gateway", tag: "", digest } },
    { commonLabels: { "example.com/team": "edge" }, commonAnnotations: { note: "any text, with spaces" } },
    { controller: { disruptionBudget: { maxUnavailable: "25%" } } },
    { controller: { lifecycle: { preStop: { sleep: { seconds: 5 } } } } },
    { sharedProxy: { resources: { requests: { cpu: 1, memory: "1.5Gi" } } } },
    { sharedProxy: { flags: { "proxy-workers": 2, "access-log": false } } },
    { sharedProxy: { extraVolumes: [{ name: "ca", configMap: { name: "ca" } }] } },
    { sharedProxy: { service: { loadBalancerSourceRanges: ["192.0.2.0/24", "2001:db8::/32"] } } },
    { sharedProxy: { hostPorts: { ip: "2001:db8::1" } } },
    { podMonitor: { interval: "1m30s" } },
    { global: { anything: true } },
  ];
  for (const values of valid) {
    it(`the schema accepts ${JSON.stringify(values)}`, () => {
      expect(mistakesIn(values)).to.deep.equal([]);
    });
  }

  const invalid: readonly (readonly [place: string, values: object])[] = [
    ["", { controler: {} }],
    ["/image/digest", { image: { repository: "a", digest: "sha256:abc" } }],
    ["/image/tag", { image: { repository: "a", tag: "a b" } }],
    ["/image/pullSecrets/0", { image: { repository: "a", pullSecrets: ["registry"] } }],
    ["/commonLabels/team", { commonLabels: { team: "not a label" } }],
    ["/commonLabels", { commonLabels: { "a key": "x" } }],
    ["/controller/replicas", { controller: { replicas: "2" } }],
    ["/controller/resources/limits/memory", { controller: { resources: { limits: { memory: "1 Gi" } } } }],
    ["/controller/resources", { controller: { resources: { limit: {} } } }],
    ["/controller/flags", { controller: { flags: { "no-such-flag": 1 } } }],
    ["/controller/extraEnv/0", { controller: { extraEnv: [{ value: "x" }] } }],
    ["/controller/extraEnv/0/value", { controller: { extraEnv: [{ name: "A", value: 1 }] } }],
    ["/controller/extraVolumes/0", { controller: { extraVolumes: [{ name: "empty" }] } }],
    ["/controller/extraVolumeMounts/0", { controller: { extraVolumeMounts: [{ name: "ca" }] } }],
    ["/controller/lifecycle", { controller: { lifecycle: { prestop: {} } } }],
    ["/controller/tolerations/0/effect", { controller: { tolerations: [{ effect: "Never" }] } }],
    [
      "/controller/topologySpreadConstraints/0",
      { controller: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone" }] } },
    ],
    ["/controller/livenessProbe/periodSeconds", { controller: { livenessProbe: { periodSeconds: 0 } } }],
    ["/sharedProxy/kind", { sharedProxy: { kind: "StatefulSet" } }],
    ["/sharedProxy/hostPorts/http", { sharedProxy: { hostPorts: { http: 70_000 } } }],
    ["/sharedProxy/autoscaling/minReplicas", { sharedProxy: { autoscaling: { minReplicas: 0 } } }],
    ["/sharedProxy/service/type", { sharedProxy: { service: { type: "ExternalName" } } }],
    [
      "/sharedProxy/service/loadBalancerSourceRanges/0",
      { sharedProxy: { service: { loadBalancerSourceRanges: ["192.0.2.1"] } } },
    ],
    ["/podMonitor/interval", { podMonitor: { interval: "30" } }],
    ["/networkPolicy/adminPeers/0", { networkPolicy: { adminPeers: [{ namespace: "monitoring" }] } }],
    ["/vap/enabled", { vap: { enabled: "yes" } }],
  ];
  for (const [place, values] of invalid) {
    it(`the schema rejects ${JSON.stringify(values)} and names the place`, () => {
      expect(mistakesIn(values)).to.include(place);
    });
  }
});
