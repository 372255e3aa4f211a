import { expect } from "chai";
import { containerOf, find, helm, podOf, refusal, render, type Manifest } from "./helm.ts";

const workloads: readonly (readonly [value: string, name: string])[] = [
  ["controller", "svc-controller"],
  ["sharedProxy", "svc-shared-proxy"],
];

describe("the manifests of the chart", function () {
  // Each rendering runs Helm.
  this.timeout(120_000);
  before(function () {
    if (helm === undefined) this.skip();
  });

  const proxyService = (manifests: readonly Manifest[]): Readonly<Record<string, unknown>> =>
    find(manifests, "Service", "svc-shared-proxy").spec ?? {};

  for (const [value, name] of workloads) {
    it(`${value}: the pod follows every value`, () => {
      const manifests = render([
        `${value}.extraEnv=[{"name":"NODE_OPTIONS","value":"--trace-gc"},{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]`,
        `${value}.extraEnvFrom=[{"configMapRef":{"name":"settings"}}]`,
        `${value}.extraVolumes=[{"name":"ca","configMap":{"name":"ca"}}]`,
        `${value}.extraVolumeMounts=[{"name":"ca","mountPath":"/etc/ca","readOnly":true}]`,
        `${value}.lifecycle={"preStop":{"sleep":{"seconds":5}}}`,
        `${value}.startupProbe={"failureThreshold":120}`,
        `${value}.livenessProbe={"timeoutSeconds":9}`,
        `${value}.readinessProbe={"periodSeconds":7}`,
        `${value}.terminationGracePeriodSeconds=90`,
        `${value}.priorityClassName="system-cluster-critical"`,
        `${value}.nodeSelector={"disk":"fast"}`,
        `${value}.tolerations=[{"operator":"Exists"}]`,
        `${value}.affinity={"podAntiAffinity":{}}`,
        `${value}.topologySpreadConstraints=[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]`,
        `${value}.podLabels={"team":"edge","app.kubernetes.io/name":"other"}`,
        `${value}.podAnnotations={"note":"pod"}`,
        `${value}.annotations={"note":"workload"}`,
        `${value}.serviceAccountAnnotations={"note":"account"}`,
        'image.pullSecrets=[{"name":"registry"}]',
      ]);
      const workload = find(manifests, "Deployment", name);
      expect(workload.metadata.annotations).to.deep.equal({ note: "workload" });
      expect(find(manifests, "ServiceAccount", name).metadata.annotations).to.deep.equal({ note: "account" });
      const pod = podOf(workload);
      expect(pod.metadata.annotations).to.deep.equal({ note: "pod" });
      expect(pod.metadata.labels).to.include({ team: "edge", "app.kubernetes.io/name": "svc" });
      expect(pod.spec).to.deep.include({
        terminationGracePeriodSeconds: 90,
        priorityClassName: "system-cluster-critical",
        nodeSelector: { disk: "fast" },
        tolerations: [{ operator: "Exists" }],
        affinity: { podAntiAffinity: {} },
        topologySpreadConstraints: [{ maxSkew: 2, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
        imagePullSecrets: [{ name: "registry" }],
      });
      expect(pod.spec["volumes"]).to.deep.include({ name: "ca", configMap: { name: "ca" } });
      const container = containerOf(workload);
      expect(container["volumeMounts"]).to.deep.include({ name: "ca", mountPath: "/etc/ca", readOnly: true });
      expect(container["envFrom"]).to.deep.equal([{ configMapRef: { name: "settings" } }]);
      expect(container["lifecycle"]).to.deep.equal({ preStop: { sleep: { seconds: 5 } } });
      expect(container["startupProbe"]).to.include({ periodSeconds: 1, failureThreshold: 120 });
      expect(container["livenessProbe"]).to.include({ periodSeconds: 10, timeoutSeconds: 9 });
      expect(container["readinessProbe"]).to.include({ periodSeconds: 7 });
      expect(container.env.filter((one) => one.name === "NODE_OPTIONS")).to.deep.equal([
        { name: "NODE_OPTIONS", value: "--trace-gc" },
      ]);
      expect(container.env.map((one) => one.name)).to.include.members(["POD_NAME", "POD_NAMESPACE", "A"]);
    });
  }

  it("no container has a variable, and no pod a volume, twice", () => {
    const manifests = render();
    for (const [, name] of workloads) {
      const { env } = containerOf(find(manifests, "Deployment", name));
      expect(new Set(env.map((one) => one.name)).size).to.equal(env.length);
    }
  });

  it("common labels and annotations are on every object and pod, and never replace those of the chart", () => {
    const manifests = render(
      [
        'commonLabels={"team":"edge","app.kubernetes.io/name":"other"}',
        'commonAnnotations={"owner":"platform"}',
        "podMonitor.enabled=true",
        "serviceMonitor.enabled=true",
        "sharedProxy.autoscaling.enabled=true",
      ],
      ["--api-versions", "gateway.networking.k8s.io/v1/GatewayClass"],
    );
    const pods = manifests.flatMap(({ spec, metadata }) =>
      spec?.template?.metadata === undefined ? [] : [{ ...spec.template.metadata, name: metadata.name }],
    );
    expect(pods).to.have.length(2);
    for (const { name, labels, annotations } of [...manifests.map(({ metadata }) => metadata), ...pods]) {
      expect(labels, name).to.include({ team: "edge", "app.kubernetes.io/name": "svc" });
      expect(annotations, name).to.include({ owner: "platform" });
    }
  });

  it("the console is served where there is a way to sign in, and refused without one", () => {
    const argsWith = (...values: readonly string[]): readonly string[] =>
      containerOf(find(render(values), "Deployment", "svc-controller")).args;
    const withFile = 'controller.flags={"admin-ui-token-file":"/etc/console/token"}';
    expect(argsWith()).not.to.include("--admin-ui");
    expect(argsWith("console.enabled=true", "adminAuth.controllers=true")).to.include("--admin-ui");
    expect(argsWith("console.enabled=true", withFile)).to.include.members([
      "--admin-ui",
      "--admin-ui-token-file=/etc/console/token",
    ]);
    expect(refusal("console.enabled=true")).to.include("adminAuth.controllers or controller.flags");
  });

  it("a digest selects the image, also that of dedicated proxies, and keeps a tag that is set", () => {
    const digest = `sha256:${"ab".repeat(32)}`;
    const imagesWith = (...values: readonly string[]): readonly (string | undefined)[] => {
      const controller = containerOf(find(render(values), "Deployment", "svc-controller"));
      return [controller.image, controller.env.find(({ name }) => name === "SVC_IMAGE")?.value];
    };
    const byDigest = `svc-gateway@${digest}`;
    expect(imagesWith(`image.digest="${digest}"`)).to.deep.equal([byDigest, byDigest]);
    const both = `svc-gateway:1.2.3@${digest}`;
    expect(imagesWith(`image.digest="${digest}"`, 'image.tag="1.2.3"')).to.deep.equal([both, both]);
  });

  it("pods of dedicated Gateways inherit pull secrets, log, priority, labels and plain variables", () => {
    const flag = "--dedicated-pod-template=";
    const inherited = (...values: readonly string[]): unknown => {
      const { args } = containerOf(find(render(values), "Deployment", "svc-controller"));
      const text = args.find((arg) => arg.startsWith(flag))?.slice(flag.length);
      return text === undefined ? undefined : JSON.parse(text);
    };
    const env = [
      { name: "SVC_LOG", value: "info" },
      { name: "SVC_LOG_FORMAT", value: "json" },
    ];
    expect(inherited()).to.deep.equal({
      metadata: {},
      spec: { containers: [{ name: "proxy", env, imagePullPolicy: "IfNotPresent" }] },
    });
    const all = [
      'image.pullSecrets=[{"name":"registry"}]',
      'sharedProxy.priorityClassName="edge"',
      'sharedProxy.extraEnv=[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"x"}}}]',
      'commonLabels={"team":"edge"}',
    ];
    expect(inherited(...all)).to.deep.equal({
      metadata: { labels: { team: "edge" } },
      spec: {
        containers: [
          { name: "proxy", env: [...env, { name: "A", value: "1" }], imagePullPolicy: "IfNotPresent" },
        ],
        imagePullSecrets: [{ name: "registry" }],
        priorityClassName: "edge",
      },
    });
    expect(inherited("dedicatedGateways.inherit=false")).to.equal(undefined);
    expect(inherited("dedicatedGateways.enabled=false")).to.equal(undefined);
  });

  it("the autoscaler has the metrics of the values, and then no workload says how many pods there are", () => {
    const manifests = render([
      'sharedProxy.autoscaling={"enabled":true,"minReplicas":3,"maxReplicas":9,"targetMemoryUtilizationPercentage":80}',
      "sharedProxy.autoscaling.targetRequestsPerSecondPerWorker=1500",
      'sharedProxy.autoscaling.behavior={"scaleDown":{"stabilizationWindowSeconds":600}}',
    ]);
    expect(find(manifests, "Deployment", "svc-shared-proxy").spec).to.not.have.property("replicas");
    const target = (name: string, averageUtilization: number): object => ({
      type: "Resource",
      resource: { name, target: { type: "Utilization", averageUtilization } },
    });
    expect(find(manifests, "HorizontalPodAutoscaler", "svc-shared-proxy").spec).to.deep.equal({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "svc-shared-proxy" },
      minReplicas: 3,
      maxReplicas: 9,
      metrics: [
        target("cpu", 70),
        target("memory", 80),
        {
          type: "Pods",
          pods: {
            metric: { name: "svc_proxy_requests_per_second_per_worker" },
            target: { type: "AverageValue", averageValue: "1500" },
          },
        },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
    });
  });

  it("a DaemonSet binds the host ports of the values, and replaces a pod before the next one starts", () => {
    const manifests = render([
      'sharedProxy.kind="DaemonSet"',
      'sharedProxy.hostPorts={"enabled":true,"http":8080,"https":0,"ip":"192.0.2.1"}',
      "sharedProxy.service.enabled=false",
    ]);
    const workload = find(manifests, "DaemonSet", "svc-shared-proxy");
    expect(workload.spec).to.not.have.any.keys("replicas", "strategy");
    expect(workload.spec?.["updateStrategy"]).to.deep.equal({
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    });
    expect(containerOf(workload)["ports"]).to.deep.include.members([
      { name: "http", containerPort: 80, hostPort: 8080, hostIP: "192.0.2.1" },
      { name: "https", containerPort: 443 },
    ]);
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.not.include(
      "Service svc-shared-proxy",
    );
    const without = find(render(['sharedProxy.kind="DaemonSet"']), "DaemonSet", "svc-shared-proxy");
    expect(JSON.stringify(containerOf(without))).to.not.include("hostPort");
  });

  it("the Service has the fields of the values", () => {
    const manifests = render([
      'sharedProxy.service.labels={"tier":"edge"}',
      'sharedProxy.service.annotations={"example.com/lb":"internal"}',
      'sharedProxy.service.externalTrafficPolicy="Local"',
      'sharedProxy.service.loadBalancerIP="192.0.2.7"',
      'sharedProxy.service.loadBalancerClass="example.com/lb"',
      'sharedProxy.service.loadBalancerSourceRanges=["198.51.100.0/24"]',
      'sharedProxy.service.externalIPs=["203.0.113.1"]',
      'sharedProxy.service.ipFamilyPolicy="PreferDualStack"',
      'sharedProxy.service.ipFamilies=["IPv4","IPv6"]',
      "sharedProxy.service.healthCheckNodePort=30999",
      'sharedProxy.service.nodePorts={"http":30080,"https":30443}',
    ]);
    const { metadata } = find(manifests, "Service", "svc-shared-proxy");
    expect(metadata.labels).to.include({ tier: "edge" });
    expect(metadata.annotations).to.deep.equal({ "example.com/lb": "internal" });
    expect(proxyService(manifests)).to.deep.include({
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      loadBalancerIP: "192.0.2.7",
      loadBalancerClass: "example.com/lb",
      loadBalancerSourceRanges: ["198.51.100.0/24"],
      externalIPs: ["203.0.113.1"],
      ipFamilyPolicy: "PreferDualStack",
      ipFamilies: ["IPv4", "IPv6"],
      healthCheckNodePort: 30_999,
      ports: [
        { name: "http", port: 80, targetPort: "http", appProtocol: "http", nodePort: 30_080 },
        { name: "https", port: 443, targetPort: "https", appProtocol: "https", nodePort: 30_443 },
      ],
    });
    expect(proxyService(render(['sharedProxy.service.type="ClusterIP"']))).to.not.have.property(
      "externalTrafficPolicy",
    );
  });

  it("disruption budgets follow the values and the number of pods", () => {
    const budgetsWith = (...values: readonly string[]): readonly unknown[] =>
      render(values)
        .filter(({ kind }) => kind === "PodDisruptionBudget")
        .map(({ metadata, spec }) => [metadata.name, spec?.["maxUnavailable"] ?? spec?.["minAvailable"]]);
    expect(budgetsWith()).to.have.deep.members([
      ["svc-controller", 1],
      ["svc-shared-proxy", 1],
    ]);
    expect(
      budgetsWith(
        'controller.disruptionBudget.minAvailable="50%"',
        "sharedProxy.disruptionBudget.maxUnavailable=2",
      ),
    ).to.have.deep.members([
      ["svc-controller", "50%"],
      ["svc-shared-proxy", 2],
    ]);
    expect(budgetsWith("controller.disruptionBudget.enabled=false", "sharedProxy.replicas=1")).to.deep.equal(
      [],
    );
    expect(
      budgetsWith("controller.replicas=1", "sharedProxy.replicas=1", 'sharedProxy.kind="DaemonSet"'),
    ).to.have.deep.members([["svc-shared-proxy", 1]]);
    const scaled = 'sharedProxy.autoscaling={"enabled":true,"minReplicas":1}';
    expect(budgetsWith("controller.replicas=1", scaled)).to.deep.equal([]);
  });

  it("network policies close the admin port, and with a value the discovery ports to all but proxies", () => {
    const rulesOf = (
      values: readonly string[],
      name: string,
    ): readonly { ports: object[]; from?: object[] }[] =>
      find(render(values), "NetworkPolicy", name).spec?.["ingress"] as never;
    const isOpen = (rules: ReturnType<typeof rulesOf>, port: number): boolean =>
      rules.some(
        ({ ports, from }) =>
          from === undefined &&
          (ports as { port: number; endPort?: number; protocol?: string }[]).some(
            (one) => one.protocol === undefined && one.port <= port && port <= (one.endPort ?? one.port),
          ),
      );
    const openOf = (values: readonly string[], name: string): readonly number[] => {
      const rules = rulesOf(values, name);
      return [80, 8081, 8082, 50_050, 50_051, 50_052, 50_053].filter((port) => isOpen(rules, port));
    };
    const without = [80, 8081, 50_050, 50_051, 50_052, 50_053];
    expect(openOf([], "svc-controller-admin")).to.deep.equal(without);
    expect(openOf([], "svc-shared-proxy-admin")).to.deep.equal(without);
    const closed = ["networkPolicy.discovery=true"];
    expect(openOf(closed, "svc-controller-admin")).to.deep.equal([80, 8081, 50_050, 50_053]);
    expect(openOf(closed, "svc-shared-proxy-admin")).to.deep.equal(without);
    const only = [...closed, "networkPolicy.admin=false"];
    expect(openOf(only, "svc-controller-admin")).to.deep.equal([80, 8081, 8082, 50_050, 50_053]);
    expect(render(only).filter(({ kind }) => kind === "NetworkPolicy")).to.have.length(1);
  });

  it("every pod matches Pod Security restricted, but for host ports", () => {
    const manifests = render();
    for (const [, name] of workloads) {
      const workload = find(manifests, "Deployment", name);
      expect(podOf(workload).spec["securityContext"]).to.deep.include({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(containerOf(workload)["securityContext"]).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  const refusals: readonly (readonly [message: string, ...values: string[]])[] = [
    ['expected "DaemonSet": two pods', "sharedProxy.hostPorts.enabled=true"],
    [
      'expected "Deployment": a DaemonSet',
      "sharedProxy.autoscaling.enabled=true",
      'sharedProxy.kind="DaemonSet"',
    ],
    [
      "minReplicas is 5, expected at most",
      'sharedProxy.autoscaling={"enabled":true,"minReplicas":5,"maxReplicas":4}',
    ],
    ["without a target", 'sharedProxy.autoscaling={"enabled":true,"targetCPUUtilizationPercentage":0}'],
    ["service.loadBalancerIP is set", 'sharedProxy.service={"type":"NodePort","loadBalancerIP":"192.0.2.7"}'],
    [
      "service.nodePorts.http is 30080",
      'sharedProxy.service={"type":"ClusterIP","nodePorts":{"http":30080}}',
    ],
    ["service.healthCheckNodePort is set", "sharedProxy.service.healthCheckNodePort=30999"],
    ['controller.extraEnv names "POD_NAME"', 'controller.extraEnv=[{"name":"POD_NAME","value":"x"}]'],
    [
      'sharedProxy.extraVolumes names "trust-bundle"',
      'sharedProxy.extraVolumes=[{"name":"trust-bundle","emptyDir":{}}]',
    ],
    ["sharedProxy/kind", 'sharedProxy.kind="StatefulSet"'],
    ["controller/replicas", 'controller.replicas="two"'],
    ["no-such-value", "controller.no-such-value=1"],
  ];
  for (const [message, ...values] of refusals) {
    it(`${values.join(" ")} is rejected with the place and what was expected`, () => {
      expect(refusal(...values)).to.include(message);
    });
  }
});
