/** `serve standalone` as a process of its own, on free ports, with backends of the test. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "../support.ts";

type LogLine = { readonly message: string; readonly level: string } & Readonly<Record<string, unknown>>;

export type Gateway = {
  readonly folder: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly adminPort: number;
  readonly healthPort: number;
  readonly logLines: readonly LogLine[];
  /** The first line, old or new, for which the condition holds when it is looked at. */
  log(condition: (line: LogLine) => boolean): Promise<LogLine>;
  /** Resolves once so many snapshots have been published since the start; the first is there from the beginning. */
  published(count: number): Promise<void>;
  /** Replaces a manifest file in one step. */
  write(file: string, text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
};

export type StartOptions = {
  readonly manifests: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** File descriptors that it may open. */
  readonly descriptors?: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs the body with a gateway, and ends the gateway even if the body fails. */
export async function withGateway(
  { manifests, flags = [], descriptors, env = {} }: StartOptions,
  body: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-gateway-standalone-"));
  for (const [file, text] of Object.entries(manifests)) await writeFile(join(folder, file), text);
  const ports = ["--port-map", "80=0,443=0", "--admin-port", "0", "--health-port", "0"];
  const bind = ["--proxy-bind-address", "127.0.0.1", "--management-bind-address", "127.0.0.1"];
  const argv = ["serve", "standalone", "--manifests", folder, ...ports, ...bind, ...flags];
  const child = startProgram(argv, { descriptors, env });
  const logLines: LogLine[] = [];
  let snapshots = 0;
  let rest = "";
  let err = "";
  const waiting = new Set<(lines: readonly LogLine[]) => void>();
  const ended = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  const gone = ended.then((code): never => {
    throw new Error(`the gateway ended with ${code}: ${err}${JSON.stringify(logLines.slice(-5))}`);
  });
  gone.catch(() => undefined);
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    const parsed = lines.map((line) => JSON.parse(line) as LogLine);
    logLines.push(...parsed);
    snapshots += parsed.filter(isPublished).length;
    for (const look of waiting) look(parsed);
  });
  const log = (condition: (line: LogLine) => boolean): Promise<LogLine> => {
    const found = new Promise<LogLine>((resolve) => {
      const look = (candidates: readonly LogLine[]): void => {
        const line = candidates.find(condition);
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      look(logLines);
    });
    return Promise.race([found, gone]);
  };
  try {
    const localPort = async (listener: number): Promise<number> =>
      Number((await log((line) => line["listener"] === listener))["local_port"]);
    const started = await log(({ message }) => message === "started");
    await log(isPublished);
    await body({
      folder,
      httpPort: await localPort(80),
      httpsPort: await localPort(443),
      adminPort: Number(started["admin_port"]),
      healthPort: Number(started["health_port"]),
      logLines,
      log,
      published: async (count) => void (await log(() => snapshots >= count)),
      async write(file, text) {
        await writeFile(join(folder, ".new"), text);
        await rename(join(folder, ".new"), join(folder, file));
      },
      kill: (signal) => void child.kill(signal),
      ended,
    });
  } finally {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

const isPublished = ({ message }: LogLine): boolean => message === "snapshot published";

const classManifest = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  spec: { controller: "svc-labs.dev/gateway-controller" },
};

/** A Service with one loopback endpoint per port. */
export const serviceManifests = (
  name: string,
  ports: readonly number[],
  appProtocol?: string,
): readonly object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ name: "main", port: 80, ...(appProtocol === undefined ? {} : { appProtocol }) }] },
  },
  ...ports.map((port) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-${port}`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "main", port }],
    endpoints: [{ addresses: ["127.0.0.1"] }],
  })),
];

export type IngressPath = { readonly path: string; readonly service: string };

export const ingressManifest = (
  name: string,
  host: string,
  paths: readonly IngressPath[],
  {
    tlsSecret,
    annotations = {},
  }: { readonly tlsSecret?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, annotations },
  spec: {
    ingressClassName: "svc",
    ...(tlsSecret === undefined ? {} : { tls: [{ hosts: [host], secretName: tlsSecret }] }),
    rules: [
      {
        host,
        http: {
          paths: paths.map(({ path, service }) => ({
            path,
            pathType: "Prefix",
            backend: { service: { name: service, port: { name: "main" } } },
          })),
        },
      },
    ],
  },
});

/** A file with these objects and the class that Ingresses name. */
export const listOf = (...items: readonly object[]): string =>
  JSON.stringify({ apiVersion: "v1", kind: "List", items: [classManifest, ...items] });
