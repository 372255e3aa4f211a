/** The cluster of the run: an API server in memory, with the objects of the soak and those of manifests.yaml. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { apiVersionOf, definitionOf, type KindName } from "../../operator/src/api/kinds.ts";
import {
  publishedTrust,
  resourcesWithout,
  services,
  sharedProxyReview,
} from "../../operator/test/control/replica-rig.ts";
import {
  startFakeCluster,
  type FakeCluster,
  type Stored,
} from "../../operator/test/sources/kubernetes/fake-cluster.ts";
import {
  createExampleCertificates,
  type ExampleCertificates,
} from "../../scripts/quickstart/certificates.ts";
import { fixedObjects } from "../soak/manifests.ts";

export type RunCluster = {
  /** The certificate of the backends of manifests.yaml that use TLS. */
  readonly identity: ExampleCertificates;
  /** Creates or replaces objects. */
  put(objects: readonly object[]): void;
  /**
   * Waits for the token and the trust bundle that a kubelet mounts into the pods of proxies, and returns their paths.
   */
  proxyIdentity(): Promise<{ readonly tokenPath: string; readonly trustPath: string }>;
  /**
   * The ports that proxies bind for the Gateway, by those that its clients use; empty until the controller has
   * assigned them.
   */
  gatewayPorts(): ReadonlyMap<number, number>;
};

const dayMs = 24 * 60 * 60_000;

/** Hosts with TLS. Their certificates expire in 4, 12 and 28 days. */
const hosts = [
  { name: "pay", dnsNames: ["pay.example.com"], daysAgo: 25 },
  { name: "mail", dnsNames: ["mail.example.com"], daysAgo: 17 },
  { name: "cdn", dnsNames: ["cdn.example.com", "*.cdn.example.com"], daysAgo: 1 },
] as const;

/** Starts the cluster. Sets `KUBECONFIG`, and makes Node.js of later processes trust the server of key sets. */
export async function startCluster(folder: string): Promise<RunCluster> {
  mkdirSync(folder, { recursive: true });
  const cluster = await startFakeCluster({
    resources: resourcesWithout(),
    reviewToken: () => sharedProxyReview,
  });
  process.env["KUBECONFIG"] = write(folder, "kubeconfig", cluster.config.exportConfig());
  const identity = await createExampleCertificates(["localhost"]);
  process.env["NODE_EXTRA_CA_CERTS"] = write(folder, "authority.pem", identity.authorityPem);
  const manifests = parseAllDocuments(readFileSync(new URL("manifests.yaml", import.meta.url), "utf8"));
  const put = (objects: readonly object[]): void => putAll(cluster, objects);
  put([...manifests.map((document) => document.toJS() as object), ...fixedObjects()]);
  put(await Promise.all(hosts.map(tlsSecret)));
  put(hosts.map(tlsIngress));
  return {
    identity,
    put,
    async proxyIdentity() {
      const trustPath = write(folder, "ca.crt", await publishedTrust(cluster));
      return { tokenPath: write(folder, "token", "a-token"), trustPath };
    },
    gatewayPorts: () => gatewayPorts(cluster),
  };
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function putAll(cluster: FakeCluster, objects: readonly object[]): void {
  for (const object of objects) {
    const kind = (object as Stored).kind as KindName;
    const version = apiVersionOf(kind);
    const group = version.includes("/") ? "/apis" : "/api";
    // An API server sets the time at which an object was created, which determines the order of Gateways and routes.
    const { metadata } = object as Stored;
    cluster.put(`${group}/${version}/${definitionOf(kind).plural}`, {
      ...object,
      metadata: { creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    });
  }
}

async function tlsSecret({ name, dnsNames, daysAgo }: (typeof hosts)[number]): Promise<object> {
  const made = await createExampleCertificates(dnsNames, { nowMs: Date.now() - daysAgo * dayMs });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "shop" },
    type: "kubernetes.io/tls",
    data: { "tls.crt": base64(made.certificatePem), "tls.key": base64(made.keyPem) },
  };
}

const paths = [
  { path: "/", pathType: "Prefix", backend: { service: { name: "shop", port: { number: 80 } } } },
];

const tlsIngress = ({ name, dnsNames }: (typeof hosts)[number]): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, namespace: "shop" },
  spec: {
    ingressClassName: "svc",
    tls: [{ hosts: dnsNames, secretName: name }],
    rules: dnsNames.map((host) => ({ host, http: { paths } })),
  },
});

function gatewayPorts(cluster: FakeCluster): ReadonlyMap<number, number> {
  const found = cluster.list(services).find(({ metadata }) => metadata.name.includes("edge")) as
    | { readonly spec: { readonly ports: readonly { readonly port: number; readonly targetPort: number }[] } }
    | undefined;
  return new Map(found?.spec.ports.map(({ port, targetPort }) => [port, targetPort] as const));
}
