import { expect } from "chai";
import { runInside, type Finished } from "../support.ts";
import { controllerDeployment, startLiveCluster, type LiveTestCluster } from "./live-cluster.ts";

const shop = (annotations: Readonly<Record<string, string>> = {}) => ({
  kind: "Ingress",
  metadata: { name: "shop", namespace: "web", annotations },
  spec: {
    ingressClassName: "svc",
    rules: [
      {
        host: "shop.example.com",
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "shop", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
});

const gateway = (name: string, hostname: string) => [
  {
    kind: "Gateway",
    metadata: { name, namespace: "web" },
    spec: {
      gatewayClassName: "svc",
      listeners: [{ name: "http", port: 80, protocol: "HTTP", hostname }],
    },
  },
  {
    kind: "HTTPRoute",
    metadata: { name, namespace: "web" },
    spec: {
      parentRefs: [{ name }],
      rules: [{ backendRefs: [{ name: "shop", port: 80 }] }],
    },
  },
];

/** The Services by which the controller gives two Gateways a port of their own on the shared proxies. */
const vips = ["web-one-9380e030-shared-gw", "web-two-d8e0d012-shared-gw"].map((name, index) => ({
  kind: "Service",
  metadata: {
    name,
    namespace: "svc-system",
    labels: { "app.kubernetes.io/component": "shared-gateway-vip" },
  },
  spec: { ports: [{ port: 80, targetPort: 30_000 + index }] },
}));

describe("commands with --live", () => {
  let cluster: LiveTestCluster;

  beforeEach(async () => {
    cluster = await startLiveCluster();
    for (const [kind, field] of [
      ["IngressClass", "controller"],
      ["GatewayClass", "controllerName"],
    ] as const) {
      cluster.add({ kind, metadata: { name: "svc" }, spec: { [field]: "svc-labs.dev/gateway-controller" } });
    }
    cluster.add({
      kind: "Service",
      metadata: { name: "shop", namespace: "web" },
      spec: { ports: [{ port: 80 }] },
    });
    cluster.add({
      kind: "EndpointSlice",
      metadata: { name: "shop-1", namespace: "web", labels: { "kubernetes.io/service-name": "shop" } },
      addressType: "IPv4",
      ports: [{ port: 8080, protocol: "TCP" }],
      endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: true } }],
    });
  });
  afterEach(() => cluster.close());

  const install = (
    args: readonly string[] = [],
    env: readonly object[] = [],
    namespace = "svc-system",
  ): void => cluster.add(controllerDeployment(namespace, args, env), "/apis/apps/v1/deployments");
  const run = (...argv: readonly string[]): Promise<Finished> =>
    runInside([...argv, "--kubeconfig", cluster.kubeconfig]);

  describe("check", () => {
    it("the command check --live reports the objects of a cluster by namespace, without positions", async () => {
      install();
      cluster.add(shop({ "ingress.svc-labs.dev/max-body-size": "huge" }));
      const { code, out, err } = await run("check", "--live");
      expect(err).to.equal("");
      expect(out).to.equal(
        [
          "Cluster",
          "  ok       GatewayClass svc",
          "  ok       IngressClass svc",
          "",
          "Namespace web",
          "  error    Ingress web/shop",
          "           InvalidAnnotation  metadata.annotations[ingress.svc-labs.dev/max-body-size]",
          '           ingress.svc-labs.dev/max-body-size: "huge" is not a size, expected a number of bytes with an optional k, m or g (powers of 1024), such as "512k" or "8m"; request bodies are not limited',
          "",
          "3 objects: 2 as written, 0 with warnings, 1 not served as written",
          "",
        ].join("\n"),
      );
      expect(code).to.equal(1);
    });

    it("the command check --live is exit code 0 where everything is served as written, and has its data as JSON", async () => {
      install();
      cluster.add(shop());
      const { code, out } = await run("check", "--live", "-o", "json");
      expect(code).to.equal(0);
      const report = JSON.parse(out) as { notes: unknown; manifests: { object: { kind: string } }[] };
      expect(report.notes).to.deep.equal([]);
      expect(report.manifests.map(({ object }) => object.kind)).to.deep.equal([
        "GatewayClass",
        "IngressClass",
        "Ingress",
      ]);
    });

    it("the command check --live takes the flags of the controllers from arguments and environment of their Deployment", async () => {
      install(["--disable-gateway-api"], [{ name: "SVC_WATCH_NAMESPACE", value: "elsewhere" }]);
      cluster.add(shop());
      const { out } = await run("check", "--live");
      expect(out)
        .to.include("unserved Ingress web/shop")
        .and.include("--watch-namespace")
        .and.not.include("GatewayClass");
      const overridden = await run("check", "--live", "--watch-namespace", "web");
      expect(overridden.out).to.include("ok       Ingress web/shop");
    });

    it("the command check --live says which variables of the Deployment it cannot read", async () => {
      install([], [{ name: "SVC_HOST_OWNERSHIP", valueFrom: { configMapKeyRef: { name: "x", key: "y" } } }]);
      const { out } = await run("check", "--live");
      expect(out).to.include(
        "Assumed\n  SVC_HOST_OWNERSHIP of Deployment svc-system/svc-controller is set by reference and not read: its default is assumed\n",
      );
    });

    it("the command check --live reports a policy that cannot be used and that no object names", async () => {
      install();
      cluster.add({
        kind: "RateLimit",
        metadata: { name: "slow", namespace: "web" },
        spec: { requestsPerSecond: 1, byHeader: "X Api Key" },
      });
      const { code, out } = await run("check", "--live");
      expect(out).to.match(
        /error +RateLimit web\/slow\n +UnusableResource\n +RateLimit web\/slow has no valid header name in spec\.byHeader: /,
      );
      expect(code).to.equal(1);
    });

    it("the command check --live works without the right to read Secrets and says what it assumes", async () => {
      install();
      const { spec } = shop();
      cluster.add({
        ...shop(),
        spec: { ...spec, tls: [{ hosts: ["shop.example.com"], secretName: "tls" }] },
      });
      cluster.forbid("secrets");
      const { code, out } = await run("check", "--live");
      expect(out)
        .to.include("ok       Ingress web/shop")
        .and.include("Secrets may not be listed by this user");
      expect(code).to.equal(0);
    });

    it("the command check --live names the right that is missing, with exit code 2", async () => {
      install();
      cluster.forbid("ingresses");
      const { code, err } = await run("check", "--live");
      expect(err).to.match(/^svc-gateway: this user may not list ingresses\.networking\.k8s\.io/);
      expect(code).to.equal(2);
    });

    it("the command check --live needs one installation, or the namespace of one of several", async () => {
      expect((await run("check", "--live")).err).to.include(
        "there are no controllers: expected a Deployment",
      );
      install();
      install([], [], "other-system");
      const several = await run("check", "--live");
      expect(several.err).to.include("controllers in the namespaces svc-system, other-system: choose one");
      expect((await run("check", "--live", "-n", "other-system")).code).to.equal(0);
    });

    it("the command check --live refuses paths and flags that a cluster does not have", async () => {
      expect((await run("check", "manifests", "--live")).err).to.include("expected no path with --live");
      expect((await run("check", "--live", "--port-map", "80=8080")).err).to.include(
        "--port-map: cannot be combined with --live",
      );
    });

    it("the command check --live never sends anything but GET", async () => {
      install();
      cluster.add(shop());
      await run("check", "--live");
      expect(cluster.requests.filter((request) => !request.startsWith("GET "))).to.deep.equal([]);
    });
  });

  describe("explain", () => {
    it("the command explain --live shows the route of an Ingress and its entrance", async () => {
      install();
      cluster.add(shop());
      const { code, out } = await run("explain", "http://shop.example.com/cart", "--live");
      expect(out).to.include("of Ingress web/shop\n").and.include("10.0.0.7:8080");
      expect(out).to.match(/\nEntrance\n {2}the shared proxies\n$/);
      expect(code).to.equal(0);
    });

    it("the command explain --live finds the Gateway that takes a request, by the port of its own Service", async () => {
      install(["--shared-proxy-selector=app=proxy"]);
      const gateways = [...gateway("one", "one.example.com"), ...gateway("two", "two.example.com")];
      for (const object of [...gateways, ...vips]) cluster.add(object);
      const { code, out } = await run("explain", "http://two.example.com/", "--live");
      expect(out)
        .to.include("of HTTPRoute web/two")
        .and.match(/Entrance\n {2}Gateway web\/two\n/);
      expect(code).to.equal(0);
      const elsewhere = await run("explain", "http://two.example.com/", "--live", "--gateway", "web/one");
      expect(elsewhere.code).to.equal(1);
    });

    it("the command explain needs manifests or a cluster, and not both", async () => {
      expect((await run("explain", "http://a.example/")).err).to.include(
        "expected --manifests PATH, or --live",
      );
      const both = await run("explain", "http://a.example/", "--manifests", "x", "--live");
      expect(both.err).to.include("--manifests: cannot be combined with --live");
    });
  });
});
