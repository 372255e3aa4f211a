/** The objects under test: applications with a Service, an EndpointSlice and an Ingress each, as users apply them. */
import { firstInternalPort } from "../../operator/src/translate/gateway/scopes/ports.ts";
import { address } from "./isolation.ts";

export const backendPort = 9000;
export const installNamespace = "svc-system";

const perNamespace = 100;

export const namespaceOf = (index: number): string => `team-${Math.floor(index / perNamespace)}`;
export const appName = (index: number): string => `app-${index}`;
export const hostOf = (index: number): string => `app-${index}.example.com`;

/** API paths under which objects of each kind are created. */
export const collections = {
  namespaces: "/api/v1/namespaces",
  serviceAccounts: `/api/v1/namespaces/${installNamespace}/serviceaccounts`,
  ingressClasses: "/apis/networking.k8s.io/v1/ingressclasses",
  definitions: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  services: (namespace: string) => `/api/v1/namespaces/${namespace}/services`,
  slices: (namespace: string) => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  gatewayClasses: "/apis/gateway.networking.k8s.io/v1/gatewayclasses",
  gateways: `/apis/gateway.networking.k8s.io/v1/namespaces/${installNamespace}/gateways`,
  routes: (namespace: string) => `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`,
  ingresses: (namespace: string) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`,
};

export const namespace = (name: string): object => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name },
});

export const ingressClass = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  spec: { controller: "svc-labs.dev/gateway-controller" },
};

export const service = (index: number): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: appName(index), labels: labelsOf(index) },
  spec: { clusterIP: "None", ports: [{ name: "http", port: 80, targetPort: backendPort }] },
});

/**
 * The EndpointSlice that the controller of Kubernetes writes for a Service with two pods; the second is not ready by
 * default.
 */
export const slice = (index: number, isSecondReady = false): object => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    name: `${appName(index)}-x7k2p`,
    labels: {
      ...labelsOf(index),
      "kubernetes.io/service-name": appName(index),
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    },
  },
  addressType: "IPv4",
  ports: [{ name: "http", port: backendPort, protocol: "TCP" }],
  endpoints: [endpoint(index, 1, address, true), endpoint(index, 2, "10.253.0.2", isSecondReady)],
});

const endpoint = (index: number, pod: number, ip: string, ready: boolean): object => ({
  addresses: [ip],
  conditions: { ready, serving: ready, terminating: false },
  nodeName: `node-${pod}`,
  targetRef: { kind: "Pod", namespace: namespaceOf(index), name: `${appName(index)}-5d9c7b6f4-${pod}` },
});

/** An Ingress in the form that `kubectl apply` writes, with a copy of itself in an annotation. */
export function ingress(index: number, paths: readonly string[] = ["/", "/api"]): object {
  const declared = {
    ...ingressType,
    metadata: {
      name: appName(index),
      namespace: namespaceOf(index),
      labels: labelsOf(index),
      annotations: { "ingress.svc-labs.dev/max-body-size": "8m" },
    },
    spec: ingressSpec(hostOf(index), appName(index), paths),
  };
  return {
    ...declared,
    metadata: {
      ...declared.metadata,
      annotations: {
        ...declared.metadata.annotations,
        "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(declared),
      },
    },
  };
}

/** An Ingress for an existing Service. */
export const newIngress = (name: string, host: string, ofApp: number): object => ({
  ...ingressType,
  metadata: { name, namespace: namespaceOf(ofApp) },
  spec: ingressSpec(host, appName(ofApp), ["/"]),
});

const ingressType = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };

const ingressSpec = (host: string, serviceName: string, paths: readonly string[]): object => ({
  ingressClassName: "svc",
  rules: [
    {
      host,
      http: {
        paths: paths.map((path) => ({
          path,
          pathType: "Prefix",
          backend: { service: { name: serviceName, port: { name: "http" } } },
        })),
      },
    },
  ],
});

/** The port that the shared proxies bind for the only listener of Gateways: the first internal port. */
export const gatewayPort = firstInternalPort;
export const gatewayName = "edge";
export const routeHostOf = (index: number): string => `route-${index}.example.org`;

const gatewayApi = "gateway.networking.k8s.io/v1";

export const gatewayClass = {
  apiVersion: gatewayApi,
  kind: "GatewayClass",
  metadata: { name: "svc" },
  spec: { controllerName: "svc-labs.dev/gateway-controller" },
};

/** One Gateway for the routes of all namespaces. */
export const gateway = {
  apiVersion: gatewayApi,
  kind: "Gateway",
  metadata: { name: gatewayName },
  spec: {
    gatewayClassName: "svc",
    listeners: [{ name: "http", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } }],
  },
};

/** An HTTPRoute for an existing Service; `edit` is the part that an edit changes. */
export const httpRoute = (name: string, host: string, ofApp: number, edit = 0): object => ({
  apiVersion: gatewayApi,
  kind: "HTTPRoute",
  metadata: { name, namespace: namespaceOf(ofApp) },
  spec: {
    parentRefs: [{ name: gatewayName, namespace: installNamespace }],
    hostnames: [host],
    rules: [
      {
        filters: [
          {
            type: "ResponseHeaderModifier",
            responseHeaderModifier: { set: [{ name: "x-edit", value: String(edit) }] },
          },
        ],
        backendRefs: [{ name: appName(ofApp), port: 80 }],
      },
    ],
  },
});

const labelsOf = (index: number): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": appName(index),
  "app.kubernetes.io/instance": appName(index),
  "app.kubernetes.io/managed-by": "Helm",
});
