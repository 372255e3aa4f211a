import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchHost, grpcHost, hostName, readPem, spansPath, type Setup } from "../setup.ts";
import { namespace, object, service } from "../../manifests.ts";
import type { Subject } from "./subject.ts";

const controller = "svc-labs.dev/gateway-controller";

/** The bundle of a checkout of this project, in standalone mode; `flags` are added to those of the setup. */
export function gateway(name: string, root: string, flags: readonly string[] = []): Subject {
  const bundle = join(root, "dist/svc-gateway.mjs");
  return {
    name,
    missing: () => (existsSync(bundle) ? undefined : `${bundle} has not been built`),
    configure(setup, { http, https }) {
      const manifests = join(setup.folder, "manifests");
      mkdirSync(manifests, { recursive: true });
      const list = { apiVersion: "v1", kind: "List", items: manifestsOf(setup) };
      writeFileSync(join(manifests, "all.json"), JSON.stringify(list));
      const { workers, accessLog, tracing } = setup.variant;
      const collector = `http://127.0.0.1:${setup.backendPort}${spansPath}`;
      return {
        command: process.execPath,
        args: [
          ...[
            bundle,
            "serve",
            "standalone",
            "--manifests",
            manifests,
            "--port-map",
            `80=${http},443=${https}`,
          ],
          ...["--admin-port", "0", "--health-port", "0", "--proxy-workers", String(workers)],
          ...["--access-log", String(accessLog)],
          ...(tracing ? ["--tracing-endpoint", collector, "--tracing-protocol", "http/protobuf"] : []),
          ...flags,
        ],
      };
    },
  };
}

function manifestsOf({ variant, backendPort, grpcBackendPort, tls, token }: Setup): readonly object[] {
  const pem = readPem(tls);
  const secret = { "tls.crt": base64(pem.crt), "tls.key": base64(pem.key) };
  return [
    object("networking.k8s.io/v1", "IngressClass", "svc", { spec: { controller } }),
    object("v1", "Secret", "tls", { type: "kubernetes.io/tls", data: secret }),
    ...service("backend", backendPort),
    ...service("grpc", grpcBackendPort, "kubernetes.io/h2c"),
    ...(variant.features ? featuresOf(token) : []),
    ...Array.from({ length: variant.hosts }, (_, host) =>
      ingress(hostName(host), "backend", pathsOf(host, variant.paths), variant.features && host === 0),
    ),
    ingress(grpcHost, "grpc", ["/"], false),
  ];
}

const pathsOf = (host: number, count: number): readonly string[] => [
  ...Array.from({ length: count }, (_, index) => `/svc${index}`),
  ...(hostName(host) === benchHost ? ["/bytes"] : []),
];

function ingress(host: string, serviceName: string, paths: readonly string[], hasFeatures: boolean): object {
  const backend = { service: { name: serviceName, port: { number: 80 } } };
  return object("networking.k8s.io/v1", "Ingress", host.replaceAll(".", "-"), {
    ...(hasFeatures && { annotations: featureAnnotations }),
    spec: {
      ingressClassName: "svc",
      tls: [{ hosts: [host], secretName: "tls" }],
      rules: [{ host, http: { paths: paths.map((path) => ({ path, pathType: "Prefix", backend })) } }],
    },
  });
}

const featureAnnotations = {
  "ingress.svc-labs.dev/rate-limit": `${namespace}/bench`,
  "ingress.svc-labs.dev/auth-jwt": `${namespace}/bench`,
  "ingress.svc-labs.dev/request-header-set": "X-Bench: request",
  "ingress.svc-labs.dev/response-header-set": "X-Bench: response",
};

const featuresOf = ({ issuer, jwks }: Setup["token"]): readonly object[] => [
  object("gateway.svc-labs.dev/v1alpha1", "RateLimit", "bench", { spec: { requestsPerSecond: 10_000_000 } }),
  object("gateway.svc-labs.dev/v1alpha1", "JwtAuth", "bench", {
    spec: { issuer, jwks: { inline: { jwks } } },
  }),
];

const base64 = (text: string): string => Buffer.from(text).toString("base64");
