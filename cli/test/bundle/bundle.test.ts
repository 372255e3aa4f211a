import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { controllerDeployment, startLiveCluster, type LiveTestCluster } from "../live/live-cluster.ts";
import { runInside, type Finished } from "../support.ts";
import { unpack } from "./unpack.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const namespacePath = "/api/v1/namespaces/svc-system";
const podName = "svc-controller-0";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Every secret has this in it, and nothing else has. */
const mark = "hunter2";
let planted: string[] = [];
/** A secret that is in no other place. */
const secret = (place: string): string => {
  const text = `${mark}-${place}`;
  planted.push(text);
  return text;
};

const pod = (env: readonly object[] = []) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: podName,
    namespace: "svc-system",
    labels: { "app.kubernetes.io/name": "svc" },
    annotations: { note: secret("pod-annotation") },
  },
  spec: {
    nodeName: "node-1",
    containers: [
      {
        name: "controller",
        image: "example.com/svc-gateway:1",
        args: [
          "serve",
          "controller",
          "--log=debug",
          `--tracing-endpoint=http://user:${secret("endpoint-password")}@collector:4317`,
          `--dedicated-pod-template={"env":"${secret("template")}"}`,
          `--unknown=${secret("unknown-flag")}`,
          secret("word"),
        ],
        env,
        ports: [{ name: "admin", containerPort: 8082 }],
      },
    ],
  },
  status: {
    phase: "Running",
    containerStatuses: [
      {
        name: "controller",
        restartCount: 1,
        lastState: {
          terminated: { reason: "Error", exitCode: 1, message: `died with ${secret("termination")}` },
        },
      },
    ],
  },
});

describe("the support bundle of status", () => {
  let cluster: LiveTestCluster;
  let folder: string;
  let file: string;
  /** Texts that pods answer with, by the last part of the path. */
  let texts: Readonly<Record<string, string>>;

  beforeEach(async () => {
    planted = [];
    cluster = await startLiveCluster({
      v1: ["pods"],
      "events.k8s.io/v1": ["events"],
    });
    folder = await mkdtemp(join(tmpdir(), "bundle-"));
    file = join(folder, "support.tar.gz");
    texts = { log: "", metrics: "svc_build_info 1\n" };
    cluster.intercept = (_request, url) => {
      if (url.pathname === "/version") return { status: 200, body: { gitVersion: "v1.36.0" } };
      if (!url.pathname.startsWith(`${namespacePath}/pods/`)) return undefined;
      const text = texts[url.pathname.split("/").at(-1) ?? ""];
      return text === undefined ? { status: 404, body: {} } : { status: 200, body: text };
    };
    cluster.add(controllerDeployment("svc-system", []), "/apis/apps/v1/deployments");
    cluster.add({ kind: "GatewayClass", metadata: { name: "svc" }, spec: { controllerName } });
    cluster.add(pod([{ name: "PASSWORD", value: secret("variable") }]), "/api/v1/pods");
  });
  afterEach(async () => {
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  const run = (...argv: readonly string[]): Promise<Finished> =>
    runInside(["status", "--bundle", file, ...argv, "--kubeconfig", cluster.kubeconfig]);

  const bundle = async (): Promise<ReadonlyMap<string, string>> => {
    const { err } = await run();
    expect(err).to.match(
      /^\d+ files are written to .*support\.tar\.gz; look at them before you pass them on\n$/,
    );
    return unpack(file);
  };
  const textOf = (files: ReadonlyMap<string, string>, name: string): string =>
    files.get(`svc-gateway-bundle/${name}`) ?? "";

  it("a bundle has status, findings, versions, events, objects, pods, logs and metrics", async () => {
    texts = {
      log: '{"level":"INFO","target":"svc_controller","message":"started"}\n',
      metrics: "svc_build_info 1\n",
    };
    cluster.add(
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name: "one", namespace: "svc-system" },
        reason: "Started",
        regarding: { kind: "Pod", namespace: "svc-system", name: podName },
        note: "Started container",
      },
      "/apis/events.k8s.io/v1/events",
    );
    const files = await bundle();
    expect([...files.keys()].toSorted()).to.deep.equal(
      [
        "README.txt",
        "events.json",
        "findings.json",
        "gaps.json",
        `logs/svc-system/${podName}.controller.log`,
        `logs/svc-system/${podName}.controller.previous.log`,
        `metrics/svc-system/${podName}.txt`,
        "objects/gatewayclasses/svc.yaml",
        `pods/svc-system/${podName}.json`,
        "status.json",
        "versions.json",
      ].map((name) => `svc-gateway-bundle/${name}`),
    );
    expect(JSON.parse(textOf(files, "status.json"))).to.have.nested.property(
      "controllers.name",
      "svc-controller",
    );
    expect(JSON.parse(textOf(files, "versions.json"))).to.have.nested.property(
      "server.gitVersion",
      "v1.36.0",
    );
    expect(JSON.parse(textOf(files, "events.json"))).to.have.nested.property("[0].note", "Started container");
    expect(textOf(files, `logs/svc-system/${podName}.controller.log`)).to.include('"message":"started"');
    expect(textOf(files, `metrics/svc-system/${podName}.txt`)).to.equal("svc_build_info 1\n");
    expect(JSON.parse(textOf(files, "gaps.json"))).to.deep.equal([]);
  });

  it("a secret that is planted in every place that can hold one is in no file of the bundle", async () => {
    cluster.add({
      kind: "Secret",
      metadata: { name: "users", namespace: "web", annotations: { note: secret("secret-annotation") } },
      type: "kubernetes.io/tls",
      data: { "tls.crt": base64(secret("certificate")), "tls.key": base64(secret("key")) },
      stringData: { auth: secret("string-data") },
    });
    cluster.add({
      kind: "Secret",
      metadata: {
        name: "passwords",
        namespace: "web",
        labels: { "ingress.svc-labs.dev/auth-basic": "true" },
      },
      type: "Opaque",
      data: { auth: base64(`admin:${secret("basic-auth")}`) },
    });
    cluster.add({
      kind: "ConfigMap",
      metadata: { name: "headers", namespace: "web" },
      data: { "X-Api-Key": secret("config-map") },
    });
    const applied = secret("last-applied");
    const backend = { service: { name: "shop", port: { number: 80 } } };
    cluster.add({
      kind: "Ingress",
      metadata: {
        name: "shop",
        namespace: "web",
        managedFields: [{ manager: secret("managed-fields") }],
        annotations: {
          "kubectl.kubernetes.io/last-applied-configuration": `{"x":"${applied}"}`,
          "nginx.ingress.kubernetes.io/configuration-snippet": `set $token "${secret("snippet")}";`,
          "nginx.ingress.kubernetes.io/auth-url": `http://u:${secret("auth-url")}@auth/?k=${secret("auth-query")}`,
          "ingress.svc-labs.dev/request-headers": `Authorization: Bearer ${secret("request-header")}`,
          // Bad values are quoted in findings.
          "ingress.svc-labs.dev/max-body-size": secret("wrong-field"),
        },
      },
      spec: {
        ingressClassName: "svc",
        rules: [{ host: "shop.example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      },
    });
    cluster.add({ kind: "IngressClass", metadata: { name: "svc" }, spec: { controller: controllerName } });
    const quoted = secret("header-modifier");
    cluster.add({
      kind: "HTTPRoute",
      metadata: { name: "shop", namespace: "web" },
      spec: {
        parentRefs: [{ name: "edge" }],
        unknown: secret("unknown-field"),
        rules: [
          {
            matches: [
              {
                path: { type: "PathPrefix", value: `/x?token=${secret("path-query")}` },
                headers: [{ name: "X-Key", value: secret("header-match") }],
                queryParams: [{ name: "key", value: secret("query-match") }],
              },
            ],
            filters: [
              {
                type: "RequestHeaderModifier",
                requestHeaderModifier: { set: [{ name: "X-Key", value: quoted }] },
              },
              {
                type: "RequestRedirect",
                requestRedirect: {
                  path: { type: "ReplaceFullPath", replaceFullPath: `/?k=${secret("redirect")}` },
                },
              },
            ],
          },
        ],
      },
      status: {
        parents: [
          {
            controllerName,
            conditions: [
              { type: "Accepted", status: "False", reason: "Invalid", message: `bad value "${quoted}"` },
            ],
          },
        ],
      },
    });
    cluster.add({
      kind: "SvcExternalAuth",
      metadata: { name: "auth", namespace: "web" },
      spec: {
        http: {
          path: `/check?token=${secret("auth-path")}`,
          headers: [{ name: "X-Key", value: secret("auth-header") }],
          signIn: { url: `https://u:${secret("url-password")}@login.example.com/?k=${secret("url-query")}` },
        },
      },
    });
    cluster.add({
      kind: "JwtAuth",
      metadata: { name: "jwt", namespace: "web" },
      spec: { jwks: { remote: { uri: `https://id.example.com/${secret("uri-path")}` } } },
    });
    cluster.add({
      kind: "RouteOptions",
      metadata: { name: "options", namespace: "web" },
      spec: { annotations: { "request-headers": `X-Key: ${secret("option")}` } },
    });
    cluster.add({
      kind: "SvcIngressClassParameters",
      metadata: { name: "class", namespace: "web" },
      spec: {
        defaultAnnotations: { "request-headers": secret("default-annotation") },
        nginxConfig: { "http-snippet": secret("nginx-config") },
      },
    });
    cluster.add(
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name: "one", namespace: "web" },
        regarding: { kind: "HTTPRoute", namespace: "web", name: "shop" },
        note: `the value ${quoted} is not used`,
      },
      "/apis/events.k8s.io/v1/events",
    );
    texts = {
      log: [
        `{"level":"ERROR","target":"svc_controller","message":"failed","error":"got\\n${mark}-basic-auth"}`,
        `{"level":"INFO","target":"svc_proxy::access","path":"/${secret("access-log")}"}`,
        `192.0.2.1 - - [27/Nov/2026:04:00:00 +0000] "GET /${secret("common-log")} HTTP/1.1" 200 1`,
        `{"level":"INFO","target":"svc_proxy","authorization":"${secret("logged-header")}"}`,
        `Error: cannot use ${mark}-key`,
        `{"level":"INFO","target":"svc_proxy","message":"cut ${quoted}`,
      ].join("\n"),
      metrics: "svc_build_info 1\n",
    };
    const files = await bundle();
    expect(files.size).to.be.greaterThan(15);
    expect(planted.length).to.be.greaterThan(25);
    for (const [name, text] of files) {
      for (const one of planted) {
        expect(text, `${name} holds ${one}`).not.to.include(one).and.not.include(base64(one));
      }
      expect(text, name).not.to.include(mark);
    }
    // What helps is there.
    const route = textOf(files, "objects/web/httproutes/shop.yaml");
    expect(route).to.include("name: X-Key").and.include(`[withheld: ${quoted.length} characters]`);
    expect(route).to.include('message: bad value "[redacted]"');
    expect(textOf(files, "objects/web/ingresses/shop.yaml")).to.include("host: shop.example.com");
    expect(textOf(files, "objects/web/secrets/users.yaml")).to.match(
      /tls\.key: "\[withheld: \d+ characters\]"/,
    );
    expect(textOf(files, `pods/svc-system/${podName}.json`))
      .to.include('"--log=debug"')
      .and.include('"PASSWORD"');
    const log = textOf(files, `logs/svc-system/${podName}.controller.log`);
    expect(log).to.match(/^\[2 lines of the access log are left out\]\n/);
    expect(log).to.include("Error: cannot use [redacted]");
  });

  it("what the user may not read is named with the reason, and the rest is written", async () => {
    const before = cluster.intercept;
    cluster.intercept = (request, url) =>
      /\/(log|metrics|events)$/.test(url.pathname)
        ? { status: 403, body: { reason: "Forbidden" } }
        : before(request, url);
    const files = await bundle();
    expect(JSON.parse(textOf(files, "gaps.json"))).to.deep.equal([
      { what: "Events", why: "this user may not list them" },
      { what: `logs/svc-system/${podName}.controller.log`, why: "this user may not read it" },
      { what: `logs/svc-system/${podName}.controller.previous.log`, why: "this user may not read it" },
      { what: `metrics/svc-system/${podName}.txt`, why: "this user may not read it" },
    ]);
  });

  it("a bundle can be read by its owner only, and replaces no file", async () => {
    await bundle();
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    await writeFile(file, "mine");
    const { code, err } = await run();
    expect(code).to.equal(2);
    expect(err).to.include("exists, expected a file that does not; nothing is written");
    expect(await readFile(file, "utf8")).to.equal("mine");
  });

  it("a name that does not end with .tar.gz is refused before the cluster is asked", async () => {
    const asked = cluster.requests.length;
    const { code, err } = await runInside([
      "status",
      "--bundle",
      "a.zip",
      "--kubeconfig",
      cluster.kubeconfig,
    ]);
    expect(code).to.equal(2);
    expect(err).to.include('--bundle: got "a.zip", expected a file whose name ends with .tar.gz');
    expect(cluster.requests).to.have.length(asked);
  });
});
