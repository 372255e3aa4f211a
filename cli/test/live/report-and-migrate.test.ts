import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runInside, type Finished } from "../support.ts";
import { startLiveCluster, type LiveTestCluster } from "./live-cluster.ts";

const prefix = "nginx.ingress.kubernetes.io";

const ingress = (namespace: string, name: string, annotations: Readonly<Record<string, string>>) => ({
  kind: "Ingress",
  metadata: { namespace, name, annotations, managedFields: [{ manager: "kubectl" }] },
  spec: {
    ingressClassName: "nginx",
    rules: [
      {
        host: `${name}.example.com`,
        http: {
          paths: [{ path: "/", pathType: "Prefix", backend: { service: { name, port: { name: "http" } } } }],
        },
      },
    ],
  },
});

describe("a live cluster as the input of report and migrate", () => {
  let cluster: LiveTestCluster;
  let output = "";

  beforeEach(async () => {
    cluster = await startLiveCluster();
    output = await mkdtemp(join(tmpdir(), "migrated-"));
    cluster.add({
      kind: "IngressClass",
      metadata: { name: "nginx" },
      spec: { controller: "k8s.io/ingress-nginx" },
    });
    for (const [namespace, name] of [
      ["shop", "web"],
      ["blog", "blog"],
    ] as const) {
      const ports = [{ name: "http", port: 8080 }];
      cluster.add({ kind: "Service", metadata: { namespace, name }, spec: { ports } });
    }
    cluster.add(
      ingress("shop", "web", { [`${prefix}/auth-type`]: "basic", [`${prefix}/auth-secret`]: "users" }),
    );
    cluster.add(ingress("blog", "blog", { [`${prefix}/proxy-body-size`]: "8m" }));
  });
  afterEach(async () => {
    await cluster.close();
    await rm(output, { recursive: true });
  });

  const run = (...argv: readonly string[]): Promise<Finished> =>
    runInside([...argv, "--kubeconfig", cluster.kubeconfig]);

  it("the report lists the annotations of all namespaces, with Secrets that may not be read assumed", async () => {
    cluster.forbid("secrets");
    const { code, out, err } = await run("report");
    expect(err).to.match(/^svc-gateway: Secrets may not be listed by this user/);
    expect(code, out).to.equal(0);
    expect(out).to.include("blog/ingresses/blog.yaml:").and.to.include("auth-secret");
  });

  it("a migration writes what the Ingresses become, without what the API server adds, and nothing else", async () => {
    cluster.forbid("secrets");
    const { code, err } = await run("migrate", "--to", "gateway-api", "--output", output);
    expect(code, err).to.equal(0);
    const files = await readdir(output, { recursive: true });
    expect(files.filter((file) => file.endsWith(".yaml")).sort()).to.deep.equal([
      "blog/ingresses/blog.yaml",
      "gateway.yaml",
      "shop/ingresses/web.yaml",
    ]);
    const text = await readFile(join(output, "shop/ingresses/web.yaml"), "utf8");
    expect(text).to.include("kind: HTTPRoute").and.to.include("port: 8080");
    expect(text).to.not.match(/managedFields|kind: Service\b/);
  });

  it("only the namespace that is named is read", async () => {
    cluster.forbid("secrets");
    const { out } = await run("report", "-n", "blog");
    expect(out).to.include("blog/blog").and.not.to.include("shop/web");
  });

  it("a context that the kubeconfig does not have is a mistake", async () => {
    const { code, err } = await run("report", "--context", "other");
    expect(code).to.equal(2);
    expect(err).to.include('no context "other"');
  });

  it("the command report rejects paths beside --from cluster", async () => {
    const { code, err } = await run("report", "manifests");
    expect(code).to.equal(2);
    expect(err).to.include("expected no path with --from cluster");
  });
});
