import { expect } from "chai";
import { alternativeNames } from "@svc-gateway/operator/discovery/certificate-builder.ts";
import { createSelfSigned } from "@svc-gateway/operator/discovery/self-signed.ts";
import { controllerDeployment, startLiveCluster, type LiveTestCluster } from "../live/live-cluster.ts";
import { runInside, type Finished } from "../support.ts";

const fleetPage = "/api/v1/namespaces/svc-system/pods/svc-controller-0:8082/proxy/api/v1/fleet/proxies";
const version = "f1d2a0b3c4d5e6f7";
const deployments = "/apis/apps/v1/deployments";
const leases = "/apis/coordination.k8s.io/v1/leases";
const controllerName = "svc-labs.dev/gateway-controller";
const dayMs = 86_400_000;

const proxy = (name: string, changed: object = {}) => ({
  pod_name: name,
  pod_namespace: "svc-system",
  pod_ip: "10.0.0.7",
  admin_port: 8082,
  component: "shared-proxy",
  gateway_ref: null,
  node: "node-1",
  phase: "Running",
  restarts: 0,
  created_at: new Date(Date.now() - 3.5 * dayMs).toISOString(),
  connected: true,
  health: "ready",
  degraded_checks: [],
  last_acked_version: version,
  in_sync: true,
  unknown_fields: 0,
  unknown_field_names: [],
  ...changed,
});

/** A lease that is renewed at the beginning of a test does not end before the test. */
const lasting = ["--controller-lease-ttl=1h"];

const lease = (renewTime: string) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "svc-leader-lock", namespace: "svc-system" },
  spec: { holderIdentity: "svc-controller-0", renewTime },
});

describe("the command status", () => {
  let cluster: LiveTestCluster;
  let proxies: readonly object[] = [];
  /** The status of answers to paths that have this part. */
  let refused: readonly [part: string, status: number] | undefined;

  beforeEach(async () => {
    cluster = await startLiveCluster();
    proxies = [proxy("svc-shared-proxy-a"), proxy("svc-shared-proxy-b")];
    refused = undefined;
    cluster.intercept = (_request, url) => {
      const [part = "", status = 0] = refused ?? [];
      if (part !== "" && url.pathname.includes(part)) return { status, body: { reason: "Refused" } };
      return url.pathname === fleetPage ? { status: 200, body: { proxies } } : undefined;
    };
    cluster.add(controllerDeployment("svc-system", lasting), deployments);
    cluster.add(lease(new Date().toISOString()), leases);
    cluster.add({ kind: "GatewayClass", metadata: { name: "svc" }, spec: { controllerName } });
  });
  afterEach(() => cluster.close());

  const run = (...argv: readonly string[]): Promise<Finished> =>
    runInside(["status", ...argv, "--kubeconfig", cluster.kubeconfig]);

  it("a healthy installation has its leader and proxies, and exit code 0", async () => {
    const { code, out, err } = await run();
    expect(err).to.equal("");
    expect(out).to.match(
      /svc-system\/svc-controller: 2 of 2 ready, leader svc-controller-0, renewed \d+s ago/,
    );
    expect(out).to.match(/svc-system\/svc-shared-proxy-a +shared +f1d2a0b3c4d5 +in sync +ready +0 +3d\n/);
    expect(out).to.match(/\n0 errors, 0 warnings; 1 of 1 object is served as written\n$/);
    expect(code).to.equal(0);
  });

  it("controllers without rights on the cluster say what they cannot do, and classes are those of their flags", async () => {
    const flags = [
      "--disable-cluster-scope",
      "--watch-namespace=web",
      "--ingress-class=a",
      "--gateway-class=b",
    ];
    cluster.add(controllerDeployment("svc-system", flags), deployments);
    cluster.add({
      kind: "Ingress",
      metadata: { name: "shop", namespace: "web" },
      spec: {
        ingressClassName: "a",
        defaultBackend: { service: { name: "shop", port: { number: 80 } } },
      },
    });
    cluster.add({
      kind: "Service",
      metadata: { name: "shop", namespace: "web" },
      spec: { ports: [{ port: 80 }] },
    });
    const { out } = await run();
    expect(out).to.include("IngressClasses are not read: ");
    expect(out).to.include("--admin-auth and tokens of the cluster for the console are not available");
    expect(out).not.to.include("IngressClassNotFound");
    expect(cluster.requests.filter((one) => /\/(ingress|gateway)classes/.test(one))).to.deep.equal([]);
  });

  it("a proxy that is a version behind comes first, is an error, and gives exit code 1", async () => {
    proxies = [proxy("a"), proxy("z", { last_acked_version: "0011223344556677", in_sync: false })];
    const { code, out } = await run();
    expect(out).to.match(/AGE\n +svc-system\/z +shared +001122334455 +BEHIND .*\n +svc-system\/a +shared/);
    expect(out).to.match(/error +Pod svc-system\/z\n +is behind: it serves the version 001122334455, which/);
    expect(code).to.equal(1);
  });

  it("a proxy of an older release is a warning that names settings which have no effect there", async () => {
    const names = ["features.a", "features.b", "features.c", "features.d", "features.e", "features.f"];
    proxies = [proxy("a"), proxy("old", { unknown_fields: 9, unknown_field_names: names })];
    const { code, out } = await run("--fail-on", "warning");
    expect(out).to.match(
      /warning +Pod svc-system\/old\n +does not know 9 settings of the controllers \(features\.a, features\.b, features\.c, features\.d, features\.e, and 4 more\), as it is of an older release: they have no effect there, also those that protect\n/,
    );
    expect(out).not.to.include("Pod svc-system/a\n");
    expect(code).to.equal(1);
  });

  it("controllers of an older release do not say what proxies know, which is no finding", async () => {
    proxies = [proxy("a", { unknown_fields: undefined, unknown_field_names: undefined })];
    const { code, out } = await run("--fail-on", "warning", "-o", "json");
    expect(JSON.parse(out)).to.have.nested.property("proxies[0].unknownFields", null);
    expect(code).to.equal(0);
  });

  it("a proxy without a stream is a warning, which gives exit code 1 with --fail-on warning only", async () => {
    proxies = [proxy("a", { connected: null, health: null, last_acked_version: null, in_sync: null })];
    expect((await run()).code).to.equal(0);
    const { code, out } = await run("--fail-on", "warning");
    expect(out).to.include("NOT CONNECTED");
    expect(code).to.equal(1);
  });

  it("a proxy that has left the leader because its pod is being deleted is no warning", async () => {
    const left = { connected: null, health: null, last_acked_version: null, in_sync: null };
    proxies = [proxy("a"), proxy("old", { ...left, phase: "Terminating" })];
    const { code, out } = await run("--fail-on", "warning");
    expect(out).to.match(/svc-system\/old +shared +none +terminating /);
    expect(out).not.to.include("Problems");
    expect(code).to.equal(0);
  });

  it("a user without the right to ask pods gets everything else, and a sentence", async () => {
    refused = ["/proxy/", 403];
    const { code, out } = await run();
    expect(out).to.include(
      "The proxies are not known: this user may not get pods/proxy in namespace svc-system",
    );
    expect(out).not.to.include("\nProxies\n");
    expect(code).to.equal(0);
  });

  it("an admin port that asks for credentials is named as the reason", async () => {
    cluster.add(controllerDeployment("svc-system", ["--admin-auth"]), deployments);
    refused = ["/proxy/", 401];
    expect((await run()).out).to.include("the controllers run with --admin-auth");
  });

  it("a Lease that no replica renews is an error", async () => {
    cluster.add(lease("2026-01-01T00:00:00.000000Z"), leases);
    const { code, out } = await run();
    expect(out).to.include(
      "was last renewed by svc-controller-0 at 2026-01-01T00:00:00.000000Z: no replica leads",
    );
    expect(code).to.equal(1);
  });

  it("a Gateway that is not programmed and a route with an unresolved backend are errors with their reasons", async () => {
    cluster.add({
      kind: "Gateway",
      metadata: { name: "edge", namespace: "web" },
      spec: { gatewayClassName: "svc", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
      status: {
        conditions: [
          { type: "Programmed", status: "False", reason: "AddressNotAssigned", message: "No address" },
        ],
      },
    });
    cluster.add({
      kind: "HTTPRoute",
      metadata: { name: "shop", namespace: "web" },
      spec: { parentRefs: [{ name: "edge" }] },
      status: {
        parents: [
          {
            controllerName,
            conditions: [
              { type: "Accepted", status: "True", reason: "Accepted", message: "" },
              { type: "ResolvedRefs", status: "False", reason: "BackendNotFound", message: "No Service" },
            ],
          },
          { controllerName: "example.com/other", conditions: [] },
        ],
      },
    });
    const { code, out } = await run();
    expect(out).to.match(/Gateway web\/edge\n +Programmed is False \(AddressNotAssigned\): No address\n/);
    expect(out).to.match(/HTTPRoute web\/shop\n +ResolvedRefs is False \(BackendNotFound\): No Service\n/);
    expect(code).to.equal(1);
  });

  it("a condition that is true for an older generation of its object is an error, and one for the present generation is none", async () => {
    const programmed = (observedGeneration: number) => ({
      conditions: [
        { type: "Programmed", status: "True", reason: "Programmed", message: "", observedGeneration },
      ],
    });
    const spec = { gatewayClassName: "svc", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] };
    for (const [name, observedGeneration] of [
      ["changed", 1],
      ["edge", 2],
    ] as const) {
      cluster.add({
        kind: "Gateway",
        metadata: { name, namespace: "web", generation: 2 },
        spec,
        status: programmed(observedGeneration),
      });
    }
    const { code, out } = await run();
    expect(out).to.match(
      /Gateway web\/changed\n +Programmed is True for generation 1, expected generation 2: no controller has processed the last change yet\n/,
    );
    expect(out).not.to.match(/Gateway web\/edge\n +Programmed/);
    expect(code).to.equal(1);
  });

  it("a certificate that ends soon is a warning with its Secret and names, and its key is nowhere", async () => {
    const { certificatePem, privateKeyPem } = await createSelfSigned(
      "shop",
      { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + 3.5 * dayMs },
      [alternativeNames([], ["shop.example.com"])],
    );
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    cluster.add({
      kind: "Secret",
      metadata: { name: "tls", namespace: "web" },
      type: "kubernetes.io/tls",
      data: { "tls.crt": base64(certificatePem), "tls.key": base64(privateKeyPem) },
    });
    cluster.add({ kind: "IngressClass", metadata: { name: "svc" }, spec: { controller: controllerName } });
    const backend = { service: { name: "shop", port: { number: 80 } } };
    cluster.add({
      kind: "Ingress",
      metadata: { name: "shop", namespace: "web" },
      spec: {
        ingressClassName: "svc",
        tls: [{ hosts: ["shop.example.com"], secretName: "tls" }],
        rules: [{ host: "shop.example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      },
    });
    const { out } = await run("-o", "json");
    const status = JSON.parse(out) as { certificates: { secret: string; names: string[] }[] };
    expect(status.certificates.map(({ secret, names }) => [secret, names])).to.deep.equal([
      ["web/tls", ["shop.example.com"]],
    ]);
    expect((await run()).out).to.include("its certificate ends in 3 days");
    expect((await run("--certificates-within", "24h")).out).not.to.include("ends in 3 days");
    expect(out).not.to.include("PRIVATE KEY").and.not.include(base64(privateKeyPem));
  });

  it("the data of status has everything that the text shows", async () => {
    const { out } = await run("-o", "json");
    const status = JSON.parse(out) as object;
    expect(Object.keys(status)).to.deep.equal([
      "context",
      "server",
      "controllers",
      "proxies",
      "certificates",
      "objects",
      "conflicts",
      "problems",
      "notes",
    ]);
    expect(status).to.have.nested.property("controllers.leader", "svc-controller-0");
    expect(status).to.have.nested.property("proxies[0].version", version);
  });
});
