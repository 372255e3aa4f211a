import { createServer, type AddressInfo } from "node:net";
import { exposeMetrics } from "@svc-gateway/common/telemetry/exposition.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { createMemorySink } from "../../../common/test/telemetry/memory-sink.ts";
import { until } from "../../../common/test/until.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { policyKinds } from "../../src/translate/policy-status/kinds.ts";
import { bootstrap, closeClients, openRawStream, subscribe } from "../discovery/support/raw-client.ts";
import type { Stored } from "../sources/kubernetes/fake-cluster.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";

import {
  addressOf,
  createReplicaRig,
  eventsOf,
  hasAddress,
  ingressClasses,
  ingresses,
  leases,
  pods,
  proxyService,
  publishedTrust,
  resourcesWithout,
  secrets,
  services,
  sharedProxyReview,
} from "./replica-rig.ts";

describe("startController", () => {
  const { useCluster, startReplica } = createReplicaRig();

  it("a controller without the Gateway API serves Ingresses: routing table, statuses, Events and certificate authority", async () => {
    const cluster = await useCluster({ resources: resourcesWithout("gateway.networking.k8s.io") });
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
    // Both name a Service that does not exist, one has an invalid annotation and a path of the other.
    await until(() => eventsOf(cluster).length === 4, "Events");
    expect(eventsOf(cluster)).to.include("RouteConflict: Route on host a.example path / is shadowed by ns/a");
    expect(
      cluster.requests.filter((request) => request.includes("gateway.networking.k8s.io/v1/")),
    ).to.deep.equal([]);
    expect(replica.metrics.watchEvents.with({ kind: "ingress", event: "init_done" }).value).to.equal(1);
    const { body } = await exposeMetrics(replica.metrics);
    expect(body).to.include('svc_controller_watch_errors_total{kind="ingress"} 0');
    expect(body).not.to.include('svc_controller_watch_errors_total{kind="gateway"}');
    const controllers = [...body.matchAll(/controller="(\w+)",result="ok"/g)].map(([, name]) => name);
    const ofPolicies = policyKinds.map((kind) => kind.toLowerCase());
    expect(controllers).to.deep.equal(["ingress", "svcbackendpolicy", ...ofPolicies, "secret"]);
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
    const cluster = await useCluster();
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

  it("a class of a running ingress-nginx has an Event, and its Leases are read for no other classes", async () => {
    const cluster = await useCluster();
    cluster.put(ingressClasses, {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "nginx" },
      spec: { controller: "k8s.io/ingress-nginx" },
    });
    cluster.put(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "ingress-nginx-leader", namespace: "edge" },
      spec: { holderIdentity: "ingress-nginx-0", renewTime: new Date().toISOString() },
    });
    const isOfNginx = (request: string): boolean => request.includes("/leases?fieldSelector");
    const plain = await startReplica("ctl-0", { "ingress-class": "svc" });
    await until(() => plain.isReady(), "readiness");
    await plain.stop();
    expect(cluster.requests.filter(isOfNginx)).to.deep.equal([]);
    await startReplica("ctl-0", { "ingress-nginx-classes": "nginx" });
    await until(() => eventsOf(cluster).length > 0, "the Event");
    expect(eventsOf(cluster)[0]).to.match(/^ForeignController: .*edge\/ingress-nginx-leader/);
  });

  it("no part of any Secret is written to the log, at any level", async () => {
    const cluster = await useCluster();
    const sink = createMemorySink();
    const logger = createLogger("svc_controller", {
      levels: createLogLevels({ level: "trace", targets: [] }),
      format: "json",
      sink,
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
    await until(
      () => sink.lines.some((line) => line.includes("InvalidCertificate")),
      "findings about Secrets",
    );
    const text = sink.lines.join("\n");
    expect(text).not.to.include("leak of");
    for (const stored of cluster.list(secrets) as readonly (Stored & { data?: Record<string, string> })[]) {
      for (const value of Object.values(stored.data ?? {})) {
        expect(text).not.to.include(value);
        expect(text).not.to.include(Buffer.from(value, "base64").toString());
      }
    }
  });

  it("proxies get the session cookie key and the session ticket keys that the controller keeps in Secrets", async () => {
    const cluster = await useCluster({ reviewToken: () => sharedProxyReview });
    const replica = await startReplica("ctl-0");
    await until(() => replica.isReady() && replica.isLeading(), "a leader");
    const trustPem = await publishedTrust(cluster);
    const { identity } = await bootstrap(replica.bootstrapPort, trustPem, { token: "a-token" });
    const stream = openRawStream(replica.streamPort, trustPem, identity);
    stream.send(subscribe("proxy-0"));
    const keys = (): readonly string[] => {
      stream.ackOnce();
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

  it("a status that another client has overwritten is restored", async () => {
    const cluster = await useCluster();
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
