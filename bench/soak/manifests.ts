import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Instance } from "./backend.ts";

const namespace = "soak";
const services = ["web", "grpc", "ws"] as const;

const service = (name: (typeof services)[number]): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace },
  spec: {
    clusterIP: "None",
    ports: [{ name: "main", port: 80, ...(name === "grpc" ? { appProtocol: "kubernetes.io/h2c" } : {}) }],
  },
});

const ingress = (
  name: string,
  host: string,
  backend: string,
  annotations: Readonly<Record<string, string>> = {},
): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, namespace, annotations },
  spec: {
    ingressClassName: "svc",
    rules: [
      {
        host,
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: backend, port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
});

/** The objects that do not change during the soak. */
export const fixedObjects = (): readonly object[] => [
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    spec: { controller: "svc-labs.dev/gateway-controller" },
  },
  ...services.map(service),
  ingress("grpc", "grpc.example.com", "grpc"),
  ingress("ws", "ws.example.com", "ws"),
];

/** The route of most requests, with the version in a response header. */
export const versionedRoute = (version: number): object =>
  ingress("web", "web.example.com", "web", {
    "ingress.svc-labs.dev/response-header-set": `X-Version: ${version}`,
  });

/** The endpoints of every Service: the instances, at one address. */
export const endpointObjects = (instances: readonly Instance[], address = "127.0.0.1"): readonly object[] =>
  services.flatMap((name) =>
    instances.map(({ ports }, index) => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${name}-${index}`, namespace, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: "main", port: ports[name], protocol: "TCP" }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    })),
  );

export const writeFixed = (folder: string): void => write(folder, "fixed", fixedObjects());

/** Writes the versioned route, and a host that is added and removed. */
export function writeRoutes(folder: string, version: number): void {
  write(folder, "routes", [
    versionedRoute(version),
    ...(version % 2 === 0 ? [ingress("sometimes", `v${version}.example.com`, "web")] : []),
  ]);
}

export const writeEndpoints = (folder: string, instances: readonly Instance[]): void =>
  write(folder, "endpoints", endpointObjects(instances));

/** Writes a file atomically, because the gateway watches the folder. */
function write(folder: string, name: string, items: readonly object[]): void {
  const path = join(folder, `${name}.json`);
  writeFileSync(`${path}.new`, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  renameSync(`${path}.new`, path);
}
