import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The mirror of the route of each host: none, or the Service of that name. */
export const mirrorKinds = ["none", "live", "silent", "refusing"] as const;

export type MirrorKind = (typeof mirrorKinds)[number];

/**
 * Writes one Ingress for each kind, all to the Service `backend`; `ports` are the ports of the Services on loopback.
 */
export function writeManifests(
  folder: string,
  ports: Readonly<Record<"backend" | "live" | "silent" | "refusing", number>>,
): void {
  const services = Object.entries(ports).flatMap(([name, port]) => [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "bench" },
      spec: { clusterIP: "None", ports: [{ name: "http", port: 80, targetPort: port }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${name}-1`, namespace: "bench", labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: "http", port, protocol: "TCP" }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    },
  ]);
  const ingresses = mirrorKinds.map((kind) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name: kind,
      namespace: "bench",
      annotations: kind === "none" ? {} : { "ingress.svc-labs.dev/mirror-target": `${kind}.bench:80` },
    },
    spec: {
      ingressClassName: "svc",
      rules: [
        {
          host: `${kind}.example.com`,
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: "backend", port: { number: 80 } } },
              },
            ],
          },
        },
      ],
    },
  }));
  const ingressClass = {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    spec: { controller: "svc-labs.dev/gateway-controller" },
  };
  const items = [ingressClass, ...services, ...ingresses];
  writeFileSync(join(folder, "all.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items }));
}
