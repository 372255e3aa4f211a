import { createServer, type AddressInfo } from "node:net";
import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { readControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import { exposeMetrics } from "@svc-gateway/common/telemetry/exposition.ts";
import { createLogger, silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import {
  controllerMetrics,
  discoveryServerMetrics,
} from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { definitionOf, kindNames } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { startController, type ControllerOptions } from "../../src/control/controller.ts";
import { bootstrap, closeClients, openRawStream, subscribe } from "../discovery/support/raw-client.ts";
import { startFakeCluster, type FakeCluster, type Stored } from "../sources/kubernetes/fake-cluster.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";

const ingresses = "/apis/networking.k8s.io/v1/ingresses";
const ingressClasses = "/apis/networking.k8s.io/v1/ingressclasses";
const services = "/api/v1/services";
const pods = "/api/v1/pods";
const secrets = "/api/v1/secrets";
const events = "/apis/events.k8s.io/v1/events";
const leases = "/apis/coordination.k8s.io/v1/leases";
const lockName = "svc-system/svc-leader-lock";

/** What the API server serves, without some kinds. */
function resourcesWithout(...groups: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const resources: Record<string, string[]> = {};
  for (const kind of kindNames) {
    const { group, versions, plural } = definitionOf(kind);
    if (groups.includes(group)) continue;
    (resources[group === "" ? (versions[0] ?? "") : `${group}/${versions[0]}`] ??= []).push(plural);
  }
  return resources;
}

const proxyService = (ip: string): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "svc-shared-proxy", namespace: "svc-system" },
  spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
  status: { loadBalancer: { ingress: [{ ip }] } },
});

const addressOf = (cluster: FakeCluster, name: string): unknown =>
  (cluster.get(ingresses, `ns/${name}`)?.status as { loadBalancer?: { ingress?: unknown } } | undefined)
    ?.loadBalancer?.ingress;

const hasAddress = (cluster: FakeCluster, name: string, ip: string): boolean =>
  JSON.stringify(addressOf(cluster, name)) === JSON.stringify([{ ip }]);

const holderOf = (cluster: FakeCluster): string | undefined =>
  (cluster.get(leases, lockName) as (Stored & { spec: { holderIdentity: string } }) | undefined)?.spec
    .holderIdentity;

/** The certificate that proxies trust, as soon as the controller publishes it. */
async function publishedTrust(cluster: FakeCluster): Promise<string> {
  const read = (): string | undefined =>
    (
      cluster.get("/api/v1/configmaps", "svc-system/svc-discovery-trust") as
        { readonly data?: Readonly<Record<string, string>> } | undefined
    )?.data?.["ca.crt"];
  await until(() => read() !== undefined, "the trust ConfigMap");
  return read() ?? "";
}

const eventsOf = (cluster: FakeCluster): string[] =>
  (cluster.list(events) as readonly (Stored & { reason: string; note: string })[]).map(
    ({ reason, note }) => `${reason}: ${note}`,
  );

/** What the API server says about a token of the shared proxies. */
const sharedProxyReview = {
  authenticated: true,
  audiences: ["svc-discovery"],
  user: { username: "system:serviceaccount:svc-system:svc-shared-proxy" },
};

describe("startController", () => {
  let cluster: FakeCluster;
  const stops: (() => Promise<void>)[] = [];

  const useCluster = async (...groups: readonly string[]): Promise<void> => {
    cluster = await startFakeCluster({ resources: resourcesWithout(...groups) });
  };

  /** A replica; the system chooses its ports. Its lease lasts longer than any test, so that nothing runs out. */
  async function startReplica(
    podName: string,
    flags: Readonly<Record<string, string | number>> = {},
    logger: Logger = silentLogger,
  ) {
    const given = {
      "pod-name": podName,
      "pod-namespace": "svc-system",
      "discovery-port": 0,
      "discovery-bootstrap-port": 0,
      "controller-lease-ttl": "10m",
      "controller-lease-renew-interval": "1s",
      ...flags,
    };
    const argv = Object.entries(given).map(([name, value]) => `--${name}=${value}`);
    const read = readControllerSettings({ argv, env: {} });
    if (!read.ok) throw new Error(read.error.message);
    const abort = new AbortController();
    const health = createHealthRegistry("1");
    const metrics = {
      controller: createMetricSet(controllerMetrics),
      discovery: createMetricSet(discoveryServerMetrics),
    };
    const options: ControllerOptions = {
      settings: read.value.settings,
      logger,
      metrics,
      health,
      signal: abort.signal,
      kubeConfig: cluster.config,
    };
    const started = await startController(options);
    if (!started.ok) throw new Error(started.error.message);
    const stop = async (): Promise<void> => {
      abort.abort();
      await started.value.done;
    };
    stops.push(stop);
    return {
      stop,
      streamPort: started.value.streamPort,
      bootstrapPort: started.value.bootstrapPort,
      checks: () => health.document().subsystems["controller"]?.checks,
      isReady: () => health.readiness().isReady,
      isLeading: () => metrics.controller.leader.with({}).value === 1,
      metrics: metrics.controller,
      isOwnPeer: started.value.isOwnPeer,
      async ask(path: string, pod: string = "") {
        const route = started.value.adminRoutes.find((one) => one.path === path);
        const answer = await route?.answer({ params: { pod }, query: new URLSearchParams() });
        return JSON.parse(answer?.body ?? "null") as Record<string, unknown>;
      },
    };
  }

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await cluster.close();
  });

  it("a controller without the Gateway API serves Ingresses: routing table, statuses, Events and certificate authority", async () => {
    await useCluster("gateway.networking.k8s.io");
    cluster.put(ingressClasses, svcClass);
    cluster.put(services, proxyService("192.0.2.1"));
    cluster.put(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "proxy-0",
        namespace: "svc-system",
        labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": "shared-proxy" },
      },
    });
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    cluster.put(
      ingresses,
      ingressManifest("b", "a.example", ["/"], { "ingress.svc-labs.dev/max-body-size": "x" }),
    );
    const replica = await startReplica("ctl-0");
    await until(
      () => addressOf(cluster, "a") !== undefined && addressOf(cluster, "b") !== undefined,
      "statuses",
    );
    expect(addressOf(cluster, "a")).to.deep.equal([{ ip: "192.0.2.1" }]);
    await until(() => replica.isReady(), "readiness");
    expect(replica.checks()).to.deep.equal({
      httproute: "Degraded",
      ingress: "Ready",
      gateway: "Degraded",
      routing_table_built: "Ready",
    });
    expect(await publishedTrust(cluster)).to.include("BEGIN CERTIFICATE");
    expect(cluster.get("/api/v1/secrets", "svc-system/svc-discovery-ca")).to.have.property("data");
    // Both name a Service that does not exist, and one loses.
    await until(() => eventsOf(cluster).length === 3, "Events");
    expect(eventsOf(cluster)).to.include("RouteConflict: Route on host a.example path / is shadowed by ns/a");
    expect(
      cluster.requests.filter((request) => request.includes("gateway.networking.k8s.io/v1/")),
    ).to.deep.equal([]);
    expect(replica.metrics.watchEvents.with({ kind: "ingress", event: "init_done" }).value).to.equal(1);
    const { body } = await exposeMetrics(replica.metrics);
    expect(body).to.include('svc_controller_watch_errors_total{kind="ingress"} 0');
    expect(body).not.to.include('svc_controller_watch_errors_total{kind="gateway"}');
    const controllers = [...body.matchAll(/controller="(\w+)",result="ok"/g)].map(([, name]) => name);
    expect(controllers).to.deep.equal(["ingress", "svcbackendpolicy", "secret"]);
    const patches = replica.metrics.statusPatches.with({ kind: "ingress", result: "ok" });
    await until(() => patches.value === 2, "both answers to be counted");

    // Pods are watched apart from what the table is made of.
    let proxies: string[] = [];
    const askForProxies = async (): Promise<void> => {
      const listed = (await replica.ask("/api/v1/fleet/proxies"))["proxies"] as { pod_name: string }[];
      proxies = listed.map(({ pod_name }) => pod_name);
    };
    await until(() => (void askForProxies(), proxies.length > 0), "the pod of the proxy");
    expect(proxies).to.deep.equal(["proxy-0"]);
    const routes = await replica.ask("/api/v1/fleet/proxies/:pod/routes", "proxy-0");
    expect(routes).to.have.nested.property("routes.ingress.hosts[0].host", "a.example");

    cluster.put(services, proxyService("192.0.2.2"));
    await until(() => hasAddress(cluster, "a", "192.0.2.2"), "the new address");
  });

  it("an endpoint at a port of the gateway's own pods is left out until the pod is deleted", async () => {
    await useCluster();
    cluster.put(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "ctl-0",
        namespace: "svc-system",
        labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": "controller" },
      },
      status: { phase: "Running", podIP: "10.0.0.9", podIPs: [{ ip: "10.0.0.9" }, { ip: "fd00::9" }] },
    });
    cluster.put(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "proxy-0",
        namespace: "svc-system",
        labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": "shared-proxy" },
      },
    });
    cluster.put(ingressClasses, svcClass);
    cluster.put(ingresses, ingressManifest("steal", "a.example"));
    cluster.put(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "ns" },
      spec: { ports: [{ port: 80 }] },
    });
    cluster.put("/apis/discovery.k8s.io/v1/endpointslices", {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "web", namespace: "ns", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [{ port: 8082, protocol: "TCP" }],
      endpoints: [{ addresses: ["10.0.0.9"] }],
    });
    const replica = await startReplica("ctl-0");
    await until(() => replica.isReady(), "readiness");
    const routes = async (): Promise<string> =>
      JSON.stringify(await replica.ask("/api/v1/fleet/proxies/:pod/routes", "proxy-0"));
    const first = await routes();
    expect(first).to.include("a.example");
    expect(first).not.to.include("10.0.0.9");
    expect(replica.isOwnPeer("10.0.0.9")).to.equal(true);
    expect(replica.isOwnPeer("fd00::9")).to.equal(true);
    expect(replica.isOwnPeer("10.0.0.8")).to.equal(false);
    cluster.remove(pods, "svc-system/ctl-0");
    let after = "";
    const look = async (): Promise<void> => void (after = await routes());
    await until(() => (void look(), after.includes("10.0.0.9")), "the endpoint of a pod that is gone");
  });

  it("no part of any Secret is written to the log, at any level", async () => {
    await useCluster();
    const lines: string[] = [];
    const logger = createLogger("svc_controller", {
      directives: { level: "trace", targets: [] },
      format: "json",
      sink: {
        write: (text) => lines.push(text) > 0,
        droppedLines: () => 0,
        isCongested: () => false,
        flushSync: () => undefined,
        close: () => Promise.resolve(),
      },
    });
    cluster.put(ingressClasses, svcClass);
    const data = (...names: readonly string[]): Record<string, string> =>
      Object.fromEntries(
        names.map((name) => [name, Buffer.from(`leak of ${name}:\nwhich is not right`).toString("base64")]),
      );
    const put = (name: string, type: string, labels: object, values: object): void =>
      void cluster.put(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: "ns", labels },
        type,
        data: values,
      });
    put("pair", "kubernetes.io/tls", {}, data("tls.crt", "tls.key"));
    put("users", "Opaque", { "ingress.svc-labs.dev/auth-basic": "true" }, data("auth"));
    put("clients", "Opaque", { "ingress.svc-labs.dev/auth-tls": "true" }, data("ca.crt"));
    const protectedIngress = ingressManifest("a", "a.example", ["/"], {
      "ingress.svc-labs.dev/auth-basic-secret": "ns/users",
      "ingress.svc-labs.dev/auth-tls-secret": "ns/clients",
    }) as KubeObject & { readonly spec: object };
    cluster.put(ingresses, {
      ...protectedIngress,
      spec: { ...protectedIngress.spec, tls: [{ hosts: ["a.example"], secretName: "pair" }] },
    });
    const replica = await startReplica("ctl-0", {}, logger);
    await until(() => replica.isReady() && replica.isLeading(), "a leader");
    const own = ["svc-discovery-ca", "svc-session-key", "svc-ticket-keys"];
    const names = (): readonly string[] => cluster.list(secrets).map(({ metadata }) => metadata.name);
    await until(() => own.every((name) => names().includes(name)), "Secrets of its own");
    await until(() => lines.some((line) => line.includes("InvalidCertificate")), "findings about Secrets");
    const text = lines.join("");
    expect(text).not.to.include("leak of");
    for (const stored of cluster.list(secrets) as readonly (Stored & { data?: Record<string, string> })[]) {
      for (const value of Object.values(stored.data ?? {})) {
        expect(text).not.to.include(value);
        expect(text).not.to.include(Buffer.from(value, "base64").toString());
      }
    }
  });

  it("proxies get the session cookie key and the session ticket keys that the controller keeps in Secrets", async () => {
    cluster = await startFakeCluster({ resources: resourcesWithout(), reviewToken: () => sharedProxyReview });
    const replica = await startReplica("ctl-0");
    await until(() => replica.isReady() && replica.isLeading(), "a leader");
    const trustPem = await publishedTrust(cluster);
    const { identity } = await bootstrap(replica.bootstrapPort, trustPem, { token: "a-token" });
    const stream = openRawStream(replica.streamPort, trustPem, identity);
    stream.send(subscribe("proxy-0"));
    const keys = (): readonly string[] => {
      const last = stream.messages.at(-1);
      if (last?.has_snapshot === true) stream.ack();
      return stream.messages.flatMap(({ snapshot }) => snapshot.resources.map(({ key }) => key));
    };
    await until(() => keys().includes("config|session-key"), "the key of cookies");
    await until(() => keys().includes("config|ticket-keys"), "the keys of session tickets");
    closeClients();
  });

  it("the Gateway API is watched where it is installed", async () => {
    await useCluster();
    const replica = await startReplica("ctl-0");
    await until(() => replica.isReady(), "readiness");
    expect(new Set(Object.values(replica.checks() ?? {}))).to.deep.equal(new Set(["Ready"]));
  });

  it("a replica publishes nothing and is not ready before every watch has listed", async () => {
    await useCluster();
    cluster.put(ingressClasses, svcClass);
    cluster.put(services, proxyService("192.0.2.1"));
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    let isForbidden = true;
    cluster.intercept = (request, url) =>
      isForbidden && url.pathname === "/api/v1/namespaces" && request.method === "GET"
        ? { status: 403, body: { reason: "Forbidden" } }
        : undefined;
    const replica = await startReplica("ctl-0");
    await until(() => replica.isLeading(), "leadership");
    await until(() => replica.checks()?.["ingress"] === "Ready", "Ingresses");
    await until(() => replica.metrics.watchErrors.with({ kind: "namespace" }).value > 1, "two failures");
    expect(replica.checks()?.["routing_table_built"]).to.equal("Pending");
    expect(replica.isReady()).to.equal(false);
    expect(replica.metrics.routingTableRebuilds.with({ result: "ok" }).value).to.equal(0);
    expect(addressOf(cluster, "a")).to.equal(undefined);
    isForbidden = false;
    await until(() => replica.isReady() && addressOf(cluster, "a") !== undefined, "readiness and status");
    expect(replica.metrics.routingTableHosts.with({}).value).to.equal(1);
  });

  it("a replica waits for an API server that does not answer when it starts", async () => {
    await useCluster();
    cluster.intercept = () => ({ status: 503, body: {} });
    const replica = await startReplica("ctl-0");
    await until(() => cluster.requests.length > 4, "some attempts");
    expect(replica.isReady()).to.equal(false);
    cluster.intercept = () => undefined;
    await until(() => replica.isReady(), "readiness");
  });

  it("one replica writes, and the other takes over at once when the first is stopped", async () => {
    await useCluster();
    cluster.put(ingressClasses, svcClass);
    const flags = { "status-address": "lb.example" };
    const first = await startReplica("ctl-0", flags);
    await until(() => first.isLeading() && first.isReady(), "the first leader");
    const second = await startReplica("ctl-1", flags);
    await until(() => second.isReady(), "a ready standby");
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await until(() => addressOf(cluster, "a") !== undefined, "a status");
    expect(second.metrics.statusPatches.with({ kind: "ingress", result: "ok" }).value).to.equal(0);
    await until(() => second.metrics.routingTableHosts.with({}).value === 1, "the standby's build");
    const stopped = first.stop();
    cluster.put(ingresses, ingressManifest("b", "b.example"));
    await stopped;
    await until(() => addressOf(cluster, "b") !== undefined, "a status from the other");
    await until(() => holderOf(cluster) === "ctl-1" && second.isLeading(), "the second leader");
  });

  it("a stopped replica clears the holder of the lease", async () => {
    await useCluster();
    const replica = await startReplica("ctl-0");
    await until(() => replica.isLeading(), "leadership");
    expect(holderOf(cluster)).to.equal("ctl-0");
    await replica.stop();
    expect(holderOf(cluster)).to.equal("");
    expect(replica.isReady(), "not ready while it goes down").to.equal(false);
  });

  it("a replica that loses the lease stops writing and stays as a standby", async () => {
    await useCluster();
    cluster.put(ingressClasses, svcClass);
    const replica = await startReplica("ctl-0", { "status-address": "lb.example" });
    await until(() => replica.isLeading() && replica.isReady(), "leadership");
    const lease = cluster.get(leases, lockName) as Stored & { spec: object };
    cluster.put(leases, { ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
    await until(() => !replica.isLeading(), "the loss");
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await until(() => replica.metrics.routingTableHosts.with({}).value === 1, "a build");
    expect(addressOf(cluster, "a")).to.equal(undefined);
    const stolen = cluster.get(leases, lockName) as Stored & { spec: object };
    cluster.put(leases, { ...stolen, spec: { ...stolen.spec, holderIdentity: "" } });
    await until(() => addressOf(cluster, "a") !== undefined, "a status, once the thief has gone");
    expect(replica.isLeading()).to.equal(true);
  });

  it("a status that another client has overwritten is restored", async () => {
    await useCluster();
    cluster.put(ingressClasses, svcClass);
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await startReplica("ctl-0", { "status-address": "192.0.2.1" });
    await until(() => addressOf(cluster, "a") !== undefined, "a status");
    const status = { loadBalancer: { ingress: [{ ip: "203.0.113.9" }] } };
    cluster.put(ingresses, { ...cluster.get(ingresses, "ns/a"), status });
    await until(() => hasAddress(cluster, "a", "192.0.2.1"), "our address");
  });

  it("a port that is in use is reported as a problem that names its flag", async () => {
    await useCluster();
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, resolve));
    const { port } = blocker.address() as AddressInfo;
    const messages: string[] = [];
    for (const flag of ["discovery-port", "discovery-bootstrap-port"]) {
      await startReplica("ctl-0", { [flag]: port }).catch((error: Error) => messages.push(error.message));
    }
    await new Promise((resolve) => blocker.close(resolve));
    expect(messages[0]).to.match(new RegExp(`^--discovery-port: .*${port}`));
    expect(messages[1]).to.match(new RegExp(`^--discovery-bootstrap-port: .*${port}`));
  });
});
