import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./provider.ts";

export type EchoManifestOptions = {
  readonly name: string;
  /** The file of this folder that runs instead of the echo backend; it also serves port 8080. */
  readonly program?: string | undefined;
  /** An image with Node.js 24; the image of this project is always available. */
  readonly image: string;
  readonly replicas?: number;
  /**
   * The CPU that the pods request, such as `20m`. Without it they get only the CPU that others leave, which on a full
   * node is almost none.
   */
  readonly cpuRequest?: string | undefined;
  /** A certificate for a port 443 of the Service, on which the pods terminate TLS themselves. */
  readonly certificate?: { readonly certificatePem: string; readonly keyPem: string } | undefined;
};

/** Bundles, by the file of the program. */
const bundles = new Map<string, Promise<string>>();

/**
 * A ConfigMap with the program in one file, a Deployment that runs it, and a Service with the ports 80 and 53 (UDP).
 * The pods are ready immediately, and run for three seconds after SIGTERM, until no proxy sends them requests any
 * more.
 */
export async function echoManifests({
  name,
  program = "echo-server.ts",
  image,
  replicas = 2,
  cpuRequest,
  certificate,
}: EchoManifestOptions): Promise<readonly object[]> {
  const bundle = bundles.get(program) ?? bundleProgram(program);
  bundles.set(program, bundle);
  const labels = { app: name };
  const container = {
    name: "echo",
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/usr/local/bin/node", "/echo/server.mjs"],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ...(certificate === undefined
        ? []
        : [
            { name: "TLS_CERTIFICATE", value: certificate.certificatePem },
            { name: "TLS_KEY", value: certificate.keyPem },
          ]),
    ],
    ports: [{ name: "http", containerPort: 8080 }],
    ...(cpuRequest !== undefined && { resources: { requests: { cpu: cpuRequest } } }),
    readinessProbe: { tcpSocket: { port: "http" }, periodSeconds: 1 },
    lifecycle: { preStop: { sleep: { seconds: 3 } } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [{ name: "echo", mountPath: "/echo" }],
  };
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${name}-program` },
      data: { "server.mjs": await bundle },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          metadata: { labels },
          spec: {
            enableServiceLinks: false,
            terminationGracePeriodSeconds: 10,
            containers: [container],
            volumes: [{ name: "echo", configMap: { name: `${name}-program` } }],
          },
        },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: {
        selector: labels,
        ports: [
          { name: "http", port: 80, targetPort: "http" },
          { name: "datagrams", port: 53, protocol: "UDP", targetPort: 8053 },
          ...(certificate === undefined ? [] : [{ name: "tls", port: 443, targetPort: 8443 }]),
        ],
      },
    },
  ];
}

async function bundleProgram(program: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, "e2e/support", program)],
    bundle: true,
    minify: true,
    write: false,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    // Optional parts of ws, which only make it faster.
    external: ["bufferutil", "utf-8-validate"],
  });
  return outputFiles[0]?.text ?? "";
}
