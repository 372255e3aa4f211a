import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createMemorySink } from "../../../common/test/telemetry/memory-sink.ts";
import { until } from "../../../common/test/until.ts";
import { assumedObjects, limitsWithoutClusterScope } from "../../src/control/cluster-scope.ts";
import { bootstrap, closeClients, openRawStream, subscribe } from "../discovery/support/raw-client.ts";
import { ingressManifest } from "../support/manifests.ts";
import {
  addressOf,
  createReplicaRig,
  ingresses,
  pods,
  proxyService,
  publishedTrust,
  services,
} from "./replica-rig.ts";

const issuer = "https://kubernetes.default.svc";
const gateways = "/apis/gateway.networking.k8s.io/v1/gateways";
/** The paths that every service account may read: lists of kinds, schemas, and the keys of the issuer. */
const discovery = /^\/api\/v1$|^\/apis\/[a-z0-9.-]+\/v[a-z0-9]+$|^\/openapi\/|^\/openid\/|^\/\.well-known\//;
const edge = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "ns" },
  spec: { gatewayClassName: "svc", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
};
const inNamespaces = /^\/apis?\/(v1|[a-z0-9.-]+\/v[a-z0-9]+)\/namespaces\/(ns|svc-system)\/./;

describe("a controller with --disable-cluster-scope", () => {
  const { useCluster, startReplica } = createReplicaRig();
  after(closeClients);

  it("a controller without cluster rights serves Ingresses, Gateways and proxies by requests in its namespaces alone", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" };
    const cluster = await useCluster();
    const refused: string[] = [];
    cluster.intercept = (request: IncomingMessage, { pathname }: URL) => {
      if (pathname === "/.well-known/openid-configuration") return { status: 200, body: { issuer } };
      if (pathname === "/openid/v1/jwks") {
        // As an API server, which has the keys in this form alone.
        return request.headers.accept === "application/jwk-set+json"
          ? { status: 200, body: { keys: [jwk] } }
          : { status: 406, body: { reason: "NotAcceptable" } };
      }
      if (discovery.test(pathname) || inNamespaces.test(pathname)) return undefined;
      refused.push(`${request.method} ${pathname}`);
      return { status: 403, body: { reason: "Forbidden" } };
    };
    cluster.put(services, proxyService("192.0.2.1"));
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "proxy-0", namespace: "svc-system", uid: "uid-proxy-0" },
      spec: { serviceAccountName: "svc-shared-proxy" },
      status: { phase: "Running" },
    };
    cluster.put(pods, pod);
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    cluster.put(gateways, edge);
    const sink = createMemorySink();
    const logger = createLogger("svc_controller", {
      levels: createLogLevels({ level: "info", targets: [] }),
      format: "json",
      sink,
    });
    const replica = await startReplica(
      "ctl-0",
      {
        "disable-cluster-scope": "true",
        "watch-namespace": "ns",
        "ingress-class": "svc",
        "gateway-class": "svc",
      },
      logger,
    );
    await until(() => addressOf(cluster, "a") !== undefined, "the status of the Ingress");
    const accepted = (): string => JSON.stringify(cluster.get(gateways, "ns/edge")?.status ?? {});
    await until(() => accepted().includes('"Accepted"'), "the status of the Gateway");
    expect(accepted()).to.match(
      /"status":"True"[^}]*"type":"Accepted"|"type":"Accepted"[^}]*"status":"True"/,
    );
    await until(() => replica.isReady(), "readiness");

    const token = await new SignJWT({ "kubernetes.io": { pod: { name: "proxy-0", uid: "uid-proxy-0" } } })
      .setProtectedHeader({ alg: "ES256", kid: "k1" })
      .setSubject("system:serviceaccount:svc-system:svc-shared-proxy")
      .setAudience("svc-discovery")
      .setIssuer(issuer)
      .setExpirationTime("10m")
      .sign(privateKey);
    const trustPem = await publishedTrust(cluster);
    const { identity } = await bootstrap(replica.bootstrapPort, trustPem, { token });
    const stream = openRawStream(replica.streamPort, trustPem, identity);
    stream.send(subscribe("proxy-0"));
    await until(
      () =>
        stream.messages.some(({ snapshot }) =>
          snapshot.resources.some(({ key }) => key.includes("a.example")),
        ),
      "the route of the Ingress at a proxy",
    );
    expect(refused).to.deep.equal([]);
    const said = sink.lines.filter((line) => line.includes("--disable-cluster-scope)"));
    expect(said).to.have.length(1);
    expect(sink.lines.filter((line) => line.includes("Forbidden"))).to.deep.equal([]);
  });

  it("the assumed class has the parameters of the flag, and classes are assumed only on request", () => {
    const settings = {
      disableClusterScope: true,
      controllerName: "example.com/c",
      ingressClass: "a",
      ingressClassParameters: { namespace: "ns", name: "defaults" },
      gatewayClass: undefined,
    };
    expect(assumedObjects(settings)).to.deep.equal([
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "IngressClass",
        metadata: { name: "a" },
        spec: {
          controller: "example.com/c",
          parameters: {
            apiGroup: "ingress.svc-labs.dev",
            kind: "SvcIngressClassParameters",
            scope: "Namespace",
            namespace: "ns",
            name: "defaults",
          },
        },
      },
    ]);
    expect(assumedObjects({ ...settings, disableClusterScope: false })).to.deep.equal([]);
  });

  it("the page of the installation lists every limit in the words of the program", () => {
    const page = readFileSync(new URL("../../../docs/namespaced-installation.md", import.meta.url), "utf8");
    const words = page
      .replace(/[`\n]+/g, " ")
      .replace(/\s+/g, " ")
      .replace(/\s+([,:;.])/g, "$1");
    for (const limit of limitsWithoutClusterScope) expect(words).to.include(limit);
  });
});
