import { expect } from "chai";
import { isStandIn } from "@svc-gateway/operator/api/stand-in.ts";
import { connectCluster, type LiveCluster } from "../../src/live/connect.ts";
import { readCluster, type LiveFolder, type ReadClusterOptions } from "../../src/live/read-cluster.ts";
import { startLiveCluster, type LiveTestCluster } from "./live-cluster.ts";

const options: ReadClusterOptions = {
  namespaces: undefined,
  disableIngress: false,
  disableGatewayApi: false,
  readsPlainSecrets: false,
  nowMs: Date.UTC(2026, 0, 1),
  signal: new AbortController().signal,
};

const shop = {
  kind: "Ingress",
  metadata: { name: "shop", namespace: "web", managedFields: [{ manager: "kubectl" }] },
  spec: {
    defaultBackend: { service: { name: "web", port: { number: 80 } } },
    tls: [{ hosts: ["shop.example.com"], secretName: "shop-tls" }],
  },
  status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
};

describe("readCluster", () => {
  let cluster: LiveTestCluster;
  let live: LiveCluster;

  beforeEach(async () => {
    cluster = await startLiveCluster();
    const connected = await connectCluster(
      { kubeconfig: cluster.kubeconfig, context: undefined },
      { env: {} },
    );
    if (!connected.ok) throw new Error(connected.error.message);
    live = connected.value;
  });
  afterEach(async () => {
    await live.close();
    await cluster.close();
  });

  const read = async (changed: Partial<ReadClusterOptions> = {}): Promise<LiveFolder> => {
    const folder = await readCluster(live, { ...options, ...changed });
    if (!folder.ok) throw new Error(folder.error.join("\n"));
    return folder.value;
  };

  it("the objects of a cluster are a folder with one file for each object", async () => {
    cluster.add(shop);
    cluster.add({ kind: "IngressClass", metadata: { name: "svc" }, spec: { controller: "example.com/c" } });
    const { state, read: textOf } = await read();
    expect([...state.objects.values()].map(({ place }) => place.file).sort()).to.deep.equal([
      "ingressclasses/svc.yaml",
      "web/ingresses/shop.yaml",
    ]);
    expect(state.world.Ingress.map(({ metadata }) => metadata.name)).to.deep.equal(["shop"]);
    expect(await textOf("web/ingresses/shop.yaml")).to.equal(
      [
        "apiVersion: networking.k8s.io/v1",
        "kind: Ingress",
        "metadata:",
        "  name: shop",
        "  namespace: web",
        "spec:",
        "  defaultBackend:",
        "    service:",
        "      name: web",
        "      port:",
        "        number: 80",
        "  tls:",
        "    - hosts:",
        "        - shop.example.com",
        "      secretName: shop-tls",
        "",
      ].join("\n"),
    );
  });

  it("a cluster is read with GET requests only", async () => {
    cluster.add(shop);
    await read();
    expect(cluster.requests).to.include("GET /apis/networking.k8s.io/v1/ingresses?limit=500");
    expect(cluster.requests.filter((request) => !request.startsWith("GET "))).to.deep.equal([]);
  });

  it("the text of a Secret leaves out its data", async () => {
    cluster.add({
      kind: "Secret",
      metadata: { name: "shop-tls", namespace: "web" },
      type: "kubernetes.io/tls",
      data: { "tls.key": "cGxhbnRlZA==", "tls.crt": "cGxhbnRlZA==" },
    });
    const { read: textOf } = await read();
    expect(await textOf("web/secrets/shop-tls.yaml"))
      .to.match(/^kind: Secret$/m)
      .and.not.include("cGxhbnRlZA");
  });

  it("Secrets that may not be listed are assumed where an object names them, and a note says so", async () => {
    cluster.add(shop);
    cluster.add({
      kind: "Ingress",
      metadata: {
        name: "admin",
        namespace: "web",
        annotations: { "ingress.svc-labs.dev/auth-basic-secret": "web/users" },
      },
      spec: shop.spec,
    });
    cluster.forbid("secrets");
    const { state, notes } = await read();
    expect(state.world.Secret.map(({ metadata, type }) => [metadata.name, type])).to.deep.equal([
      ["shop-tls", "kubernetes.io/tls"],
      ["users", "Opaque"],
    ]);
    expect(notes).to.deep.equal([
      "Secrets may not be listed by this user: those that objects name are assumed to exist and to be valid",
    ]);
  });

  it("no namespaces but the given ones are listed, and no other Secrets are assumed", async () => {
    cluster.add(shop);
    cluster.add({ ...shop, metadata: { name: "other", namespace: "elsewhere" } });
    cluster.forbid("secrets");
    const { state, notes } = await read({ namespaces: ["web"] });
    expect(state.world.Ingress.map(({ metadata }) => metadata.namespace)).to.deep.equal(["web"]);
    expect(state.world.Secret.map(({ metadata }) => metadata.namespace)).to.deep.equal(["web"]);
    expect(notes[0]).to.match(/^Secrets of web may not be listed/);
  });

  it("a kind that may not be listed is a failure that names it", async () => {
    cluster.forbid("services", "httproutes");
    const folder = await readCluster(live, options);
    expect(folder.ok ? [] : folder.error.toSorted()).to.deep.equal([
      'this user may not list httproutes.gateway.networking.k8s.io: expected the rights in docs/cli.md, "Rights"',
      'this user may not list services: expected the rights in docs/cli.md, "Rights"',
    ]);
  });

  it("an object that a controller would reject is a problem and is not used", async () => {
    cluster.add({ ...shop, spec: { rules: "none" } });
    const { state } = await read();
    expect(state.world.Ingress).to.deep.equal([]);
    expect(state.problems.map(({ reason, object }) => [reason, object?.name])).to.deep.equal([
      ["InvalidObject", "shop"],
    ]);
  });

  it("a policy that is not valid has a stand-in, as in a controller, and its problem says what happens", async () => {
    cluster.add({
      kind: "JwtAuth",
      metadata: { name: "staff", namespace: "web" },
      spec: { issuer: 1 },
    });
    const { state } = await read();
    expect(state.world.JwtAuth.map(isStandIn)).to.deep.equal([true]);
    expect(state.problems.map(({ message }) => message)).to.include(
      "spec.issuer: must be a string, found 1; what it protects is closed",
    );
  });

  it("more objects than a page holds are all read", async () => {
    for (let number = 0; number < 1200; number++) {
      cluster.add({ ...shop, metadata: { name: `i-${number}`, namespace: "web" } });
    }
    const { state } = await read();
    expect(state.world.Ingress).to.have.length(1200);
  });

  it("an API server that does not answer is a failure", async () => {
    cluster.intercept = () => ({ status: 503, body: { reason: "ServiceUnavailable", message: "down" } });
    const folder = await readCluster(live, options);
    expect(folder.ok ? [] : folder.error).to.deep.equal([
      "the API server cannot be asked: HTTP 503: ServiceUnavailable: down",
    ]);
  });
});

describe("connectCluster", () => {
  it("a context that the kubeconfig lacks is named with those that it has", async () => {
    const cluster = await startLiveCluster();
    const given = { kubeconfig: cluster.kubeconfig, context: "prod" };
    const connected = await connectCluster(given, { env: {} });
    await cluster.close();
    expect(connected.ok ? "" : connected.error.message).to.equal(
      '--context: the kubeconfig has no context "prod", expected one of loaded-context',
    );
  });

  it("a kubeconfig that does not exist is a problem", async () => {
    const connected = await connectCluster({ kubeconfig: "/absent/config", context: undefined }, { env: {} });
    expect(connected.ok ? "" : connected.error.message).to.match(/^the kubeconfig cannot be used: ENOENT/);
  });
});
