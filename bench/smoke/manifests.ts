import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Size of the routing table under test: hosts times paths. */
export const hostCount = 100;
export const pathCount = 10;

export const hostName = (index: number): string => `h${index}.example.com`;

/** Writes one Ingress per host with `pathCount` prefixes, all to one Service at 127.0.0.1:`backendPort`. */
export function writeManifests(folder: string, backendPort: number): void {
  mkdirSync(folder, { recursive: true });
  const documents = Array.from({ length: hostCount }, (_, host) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: `ingress-${host}`, namespace: "bench" },
    spec: {
      ingressClassName: "svc",
      rules: [{ host: hostName(host), http: { paths: paths() } }],
    },
  }));
  const fixed = [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "svc" },
      spec: { controller: "svc-labs.dev/gateway-controller" },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "backend", namespace: "bench" },
      spec: { clusterIP: "None", ports: [{ name: "http", port: 80, targetPort: backendPort }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "backend-1",
        namespace: "bench",
        labels: { "kubernetes.io/service-name": "backend" },
      },
      addressType: "IPv4",
      ports: [{ name: "http", port: backendPort, protocol: "TCP" }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    },
  ];
  const items = [...fixed, ...documents];
  writeFileSync(join(folder, "all.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items }));
}

function paths(): readonly object[] {
  return Array.from({ length: pathCount }, (_, path) => ({
    path: `/svc${path}`,
    pathType: "Prefix",
    backend: { service: { name: "backend", port: { number: 80 } } },
  }));
}
