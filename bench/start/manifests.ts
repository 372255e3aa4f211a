/**
 * The folder with which a start is measured: applications as users write them, with a Service, its endpoints and a
 * route each.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const hostOf = (index: number): string => `app-${index}.example.com`;

const applicationsInFile = 100;

/** Writes all applications, odd ones with an HTTPRoute and even ones with an Ingress, 100 per file. */
export function writeManifests(folder: string, applications: number, backendPort: number): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "classes.yaml"), classes);
  for (let from = 0; from < applications; from += applicationsInFile) {
    const length = Math.min(applicationsInFile, applications - from);
    const documents = Array.from({ length }, (_, index) => application(from + index, backendPort));
    writeFileSync(join(folder, `team-${from / applicationsInFile}.yaml`), documents.join(""));
  }
}

const classes = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: svc
spec:
  controller: svc-labs.dev/gateway-controller
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: svc
spec:
  controllerName: svc-labs.dev/gateway-controller
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: edge
spec:
  gatewayClassName: svc
  listeners:
    - name: http
      port: 8080
      protocol: HTTP
      allowedRoutes:
        namespaces:
          from: All
`;

const application = (index: number, backendPort: number): string => {
  const name = `app-${index}`;
  const namespace = `team-${Math.floor(index / applicationsInFile)}`;
  return `---
# Application ${index}
apiVersion: v1
kind: Service
metadata:
  name: ${name}
  namespace: ${namespace}
  labels:
    app.kubernetes.io/name: ${name}
spec:
  clusterIP: None
  ports:
    - name: http
      port: 80
      targetPort: ${backendPort}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: ${name}-1
  namespace: ${namespace}
  labels:
    kubernetes.io/service-name: ${name}
addressType: IPv4
ports:
  - name: http
    port: ${backendPort}
    protocol: TCP
endpoints:
  - addresses: ["127.0.0.1"]
    conditions:
      ready: true
---
${index % 2 === 0 ? ingress(index, name, namespace) : httpRoute(index, name, namespace)}`;
};

const ingress = (index: number, name: string, namespace: string): string => `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${name}
  namespace: ${namespace}
  annotations:
    ingress.svc-labs.dev/max-body-size: 8m
spec:
  ingressClassName: svc
  rules:
    - host: ${hostOf(index)}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: ${name}
                port:
                  name: http
`;

const httpRoute = (
  index: number,
  name: string,
  namespace: string,
): string => `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  parentRefs:
    - name: edge
      namespace: edge
  hostnames:
    - "${hostOf(index)}"
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /
      backendRefs:
        - name: ${name}
          port: 80
`;
