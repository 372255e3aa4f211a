import type { KubeObject } from "../../src/api/object.ts";

/** The IngressClass that makes Ingresses ours. */
export const svcClass: KubeObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  spec: { controller: "svc-labs.dev/gateway-controller" },
} as KubeObject;

/** An Ingress of class `svc` in the namespace `ns`, all paths of it to the Service `web`. */
export const ingressManifest = (
  name: string,
  host: string,
  paths: readonly string[] = ["/"],
  annotations: Readonly<Record<string, string>> = {},
): KubeObject =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "ns", uid: `uid-${name}`, annotations },
    spec: {
      ingressClassName: "svc",
      rules: [
        {
          host,
          http: {
            paths: paths.map((path) => ({
              path,
              pathType: "Prefix",
              backend: { service: { name: "web", port: { number: 80 } } },
            })),
          },
        },
      ],
    },
  }) as unknown as KubeObject;
