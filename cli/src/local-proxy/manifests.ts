/** Generates the manifests for the rules of `--proxy` (docs/standalone.md, "A local proxy"). */
import { isIP } from "node:net";
import { stringify } from "yaml";
import { formatProxyRule, type ProxyRule } from "@svc-gateway/common/settings/proxy-rule.ts";
import type { Origin } from "@svc-gateway/common/values/origin.ts";
import { contentFilePrefix } from "@svc-gateway/operator/sources/files/content-files.ts";

/** The files next to the manifests. */
export const certificateFile = "tls.crt";
export const keyFile = "tls.key";
export const backendCaFile = "backend-ca.crt";

export type ManifestOptions = {
  readonly controllerName: string;
  /** Whether backends are verified with `backend-ca.crt`; otherwise with the authorities of the system. */
  readonly hasBackendCa: boolean;
};

const className = "proxy";
const secretName = "proxy-tls";
const authorities = "proxy-backend-ca";

/** Writes the manifests as one YAML text, with a comment for each rule. */
export function writeManifests(rules: readonly ProxyRule[], options: ManifestOptions): string {
  const backends = [...new Map(rules.map(({ backend }) => [keyOf(backend), backend])).values()];
  const nameOf = (backend: Origin): string =>
    `backend-${backends.findIndex((one) => keyOf(one) === keyOf(backend)) + 1}`;
  const objects = [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: className },
      spec: { controller: options.controllerName },
    },
    secret(),
    ...backends.flatMap((backend) => backendObjects(nameOf(backend), backend, options)),
    ...(options.hasBackendCa && backends.some(isSecure) ? [authoritiesObject()] : []),
    ...[...Map.groupBy(rules, ({ host }) => host)].map(([host, ofHost], index) =>
      ingress(`host-${index + 1}`, host, ofHost, nameOf),
    ),
  ];
  const head = rules.map((rule) => `# --proxy ${formatProxyRule(rule)}\n`).join("");
  return head + objects.map((object) => `---\n${stringify(object)}`).join("");
}

const keyOf = ({ scheme, host, port }: Origin): string => `${scheme}://${host}:${port}`;

const isSecure = ({ scheme }: Origin): boolean => scheme === "https";

const secret = (): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: secretName,
    annotations: {
      [`${contentFilePrefix}tls.crt`]: certificateFile,
      [`${contentFilePrefix}tls.key`]: keyFile,
    },
  },
  type: "kubernetes.io/tls",
});

const authoritiesObject = (): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: authorities, annotations: { [`${contentFilePrefix}ca.crt`]: backendCaFile } },
});

function backendObjects(name: string, backend: Origin, { hasBackendCa }: ManifestOptions): readonly object[] {
  const { port } = backend;
  const host = backend.host.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  const service =
    family === 0
      ? { type: "ExternalName", externalName: host, ports: [{ name: "main", port }] }
      : { ports: [{ name: "main", port }] };
  return [
    { apiVersion: "v1", kind: "Service", metadata: { name }, spec: service },
    ...(family === 0
      ? []
      : [
          {
            apiVersion: "discovery.k8s.io/v1",
            kind: "EndpointSlice",
            metadata: { name, labels: { "kubernetes.io/service-name": name } },
            addressType: family === 6 ? "IPv6" : "IPv4",
            ports: [{ name: "main", port }],
            endpoints: [{ addresses: [host] }],
          },
        ]),
    ...(isSecure(backend) ? [tlsPolicy(name, host, hasBackendCa)] : []),
  ];
}

const tlsPolicy = (name: string, hostname: string, hasBackendCa: boolean): object => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "BackendTLSPolicy",
  metadata: { name },
  spec: {
    targetRefs: [{ group: "", kind: "Service", name }],
    validation: {
      ...(hasBackendCa
        ? { caCertificateRefs: [{ group: "", kind: "ConfigMap", name: authorities }] }
        : { wellKnownCACertificates: "System" }),
      hostname,
    },
  },
});

const ingress = (
  name: string,
  host: string,
  rules: readonly ProxyRule[],
  nameOf: (backend: Origin) => string,
): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name },
  spec: {
    ingressClassName: className,
    tls: [{ hosts: [host], secretName }],
    rules: [
      {
        host,
        http: {
          paths: rules.map(({ path, backend }) => ({
            path,
            pathType: "Prefix",
            backend: { service: { name: nameOf(backend), port: { name: "main" } } },
          })),
        },
      },
    ],
  },
});
