import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { namespace } from "../deploy/release.ts";
import { podsOf, waitUntilWhole } from "../support/pods.ts";
import { helm, kubectl, root, tryKubectl } from "../support/provider.ts";

const chart = join(root, "config/chart");

type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
};

/** A value for each field of the pods of a component. */
const everyPodValue = (component: string): readonly string[] => [
  `${component}.extraEnv=[{"name":"NODE_OPTIONS","value":"--trace-gc"},{"name":"A","value":"1"}]`,
  `${component}.extraEnvFrom=[{"configMapRef":{"name":"settings","optional":true}}]`,
  `${component}.extraVolumes=[{"name":"ca","configMap":{"name":"ca"}}]`,
  `${component}.extraVolumeMounts=[{"name":"ca","mountPath":"/etc/ca","readOnly":true}]`,
  `${component}.lifecycle={"preStop":{"sleep":{"seconds":5}}}`,
  `${component}.startupProbe={"failureThreshold":120}`,
  `${component}.priorityClassName="system-cluster-critical"`,
  `${component}.affinity={"podAntiAffinity":{}}`,
  `${component}.topologySpreadConstraints=[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]`,
  `${component}.podLabels={"tier":"edge"}`,
  `${component}.podAnnotations={"note":"any text"}`,
  `${component}.serviceAccountAnnotations={"note":"account"}`,
];

describe("the Helm chart", () => {
  before(async function () {
    this.timeout(300_000);
    await waitUntilWhole();
  });

  const render = async (...values: readonly string[]): Promise<readonly Manifest[]> => {
    const set = values.flatMap((value) => ["--set-json", value]);
    const text = await helm(["template", "svc-gateway", chart, "--namespace", namespace, ...set]);
    return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
  };
  const named = (manifests: readonly Manifest[], kind: string): readonly string[] =>
    manifests.filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name);

  it("the chart passes helm lint --strict", async () => {
    expect(await helm(["lint", "--strict", chart])).to.include("0 chart(s) failed");
  });

  it("the API server accepts the chart with default values and with all options enabled", async () => {
    const everything = [
      'controller.flags={"ingress-default-backend":"web/fallback:80","controller-lease-ttl":"20s"}',
      'sharedProxy.flags={"proxy-accept-proxy-protocol":true,"proxy-max-connections":1000000}',
      'sharedProxy.service={"type":"NodePort","nodePorts":{"http":30999}}',
      'networkPolicy.adminPeers=[{"namespaceSelector":{"matchLabels":{"name":"monitoring"}}}]',
      'image.pullSecrets=[{"name":"registry"}]',
      "ingressClass.default=true",
      'controller.nodeSelector={"kubernetes.io/os":"linux"}',
      'sharedProxy.tolerations=[{"operator":"Exists"}]',
      'commonLabels={"team":"edge"}',
      'commonAnnotations={"owner":"platform"}',
      ...["controller", "sharedProxy"].flatMap(everyPodValue),
      'controller.disruptionBudget.maxUnavailable="50%"',
      "networkPolicy.discovery=true",
      "dashboards.enabled=true",
    ];
    const scaled = [
      'sharedProxy.autoscaling={"enabled":true,"targetMemoryUtilizationPercentage":80}',
      "sharedProxy.autoscaling.targetRequestsPerSecondPerWorker=1500",
      'sharedProxy.autoscaling.behavior={"scaleDown":{"stabilizationWindowSeconds":600}}',
      'sharedProxy.service={"externalTrafficPolicy":"Local","healthCheckNodePort":30998}',
      'sharedProxy.service.loadBalancerSourceRanges=["192.0.2.0/24"]',
      `image.digest="sha256:${"ab".repeat(32)}"`,
    ];
    const onEachNode = [
      'sharedProxy.kind="DaemonSet"',
      'sharedProxy.hostPorts={"enabled":true,"ip":"127.0.0.1"}',
      "sharedProxy.service.enabled=false",
    ];
    for (const values of [[], everything, scaled, onEachNode]) {
      const manifests = await render(...values);
      const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests });
      const args = [
        "apply",
        "--namespace",
        namespace,
        "--dry-run=server",
        "--server-side",
        "--force-conflicts",
      ];
      await kubectl([...args, "--validate=strict", "--filename", "-"], { input });
    }
  });

  it("the readiness probe of the shared proxies follows the values, and that of controllers is fixed", async () => {
    type Container = { readonly readinessProbe: Readonly<Record<string, number>> };
    type PodTemplate = {
      readonly template: { readonly spec: { readonly containers: readonly Container[] } };
    };
    const timesOf = (manifests: readonly Manifest[], name: string): readonly (number | undefined)[] => {
      const deployment = manifests.find(
        ({ kind, metadata }) => kind === "Deployment" && metadata.name === name,
      );
      const spec = deployment?.spec as PodTemplate | undefined;
      const probe = spec?.template.spec.containers[0]?.readinessProbe;
      return [probe?.["periodSeconds"], probe?.["timeoutSeconds"], probe?.["failureThreshold"]];
    };
    const plain = await render();
    expect(timesOf(plain, "svc-shared-proxy")).to.deep.equal([2, 2, 2]);
    expect(timesOf(plain, "svc-controller")).to.deep.equal([1, 2, 3]);
    const faster = await render('sharedProxy.readinessProbe={"periodSeconds":1,"timeoutSeconds":1}');
    expect(timesOf(faster, "svc-shared-proxy")).to.deep.equal([1, 1, 2]);
    expect(timesOf(faster, "svc-controller")).to.deep.equal([1, 2, 3]);
  });

  it("the chart leaves disabled objects out", async () => {
    const manifests = await render(
      "vap.enabled=false",
      "networkPolicy.admin=false",
      "crds.enabled=false",
      "ingressClass.enabled=false",
      "controller.replicas=1",
      "sharedProxy.replicas=1",
    );
    const kinds = new Set(manifests.map(({ kind }) => kind));
    for (const kind of [
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionPolicyBinding",
      "NetworkPolicy",
      "CustomResourceDefinition",
      "IngressClass",
      "PodDisruptionBudget",
      "PodMonitor",
    ]) {
      expect(kinds).to.not.include(kind);
    }
  });

  it("the chart adds PodMonitors of proxies and controllers when they are enabled", async () => {
    expect(named(await render("podMonitor.enabled=true"), "PodMonitor")).to.have.members([
      "svc-proxies",
      "svc-controllers",
    ]);
  });

  it("the ports and classes of the chart follow the flags of the controllers", async () => {
    const manifests = await render(
      'controller.flags={"ingress-https-port":0,"ingress-http-port":8080,"controller-name":"example.com/gateway"}',
    );
    const specOf = (kind: string, name: string): Readonly<Record<string, unknown>> | undefined =>
      manifests.find((one) => one.kind === kind && one.metadata.name === name)?.spec;
    expect(specOf("IngressClass", "svc")).to.deep.equal({ controller: "example.com/gateway" });
    const ports = (specOf("Service", "svc-shared-proxy")?.["ports"] ?? []) as readonly { name: string }[];
    expect(ports.map(({ name }) => name)).to.deep.equal(["http"]);
    const none = await render('controller.flags={"ingress-https-port":0,"ingress-http-port":0}');
    expect(named(none, "Service")).to.deep.equal(["svc-controller-discovery"]);
  });

  it("the chart rejects unknown values and flags", async () => {
    for (const value of ['controller.flags={"no-such-flag":1}', "controler={}", 'vap.enabled="yes"']) {
      const refused = await render(value).then(
        () => "",
        (error: Error) => error.message,
      );
      expect(refused, value).to.include("values don't meet the specifications of the schema");
    }
  });

  it("every pod runs without privileges", async () => {
    type Restricted = {
      readonly spec: {
        readonly securityContext: object;
        readonly containers: readonly { readonly securityContext: object }[];
      };
    };
    const pods = [
      ...(await podsOf("controller")),
      ...(await podsOf("shared-proxy")),
    ] as unknown as Restricted[];
    expect(pods).to.have.length(4);
    for (const { spec } of pods) {
      expect(spec.securityContext).to.deep.include({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      });
      for (const { securityContext } of spec.containers) {
        expect(securityContext).to.deep.equal({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          readOnlyRootFilesystem: true,
        });
      }
    }
  });

  it("proxies have no permission at all", async () => {
    const proxy = `system:serviceaccount:${namespace}:svc-shared-proxy`;
    for (const resource of ["secrets", "configmaps", "services", "ingresses.networking.k8s.io"]) {
      const asked = await tryKubectl(["auth", "can-i", "list", resource, "--all-namespaces", "--as", proxy]);
      expect(asked.stdout.trim(), resource).to.equal("no");
    }
  });
});
