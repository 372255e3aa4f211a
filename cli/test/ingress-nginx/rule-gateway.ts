/** Serves files of rules: their objects, a ConfigMap, and the Services that their paths name, with one gateway. */
import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import { issueCertificate } from "../../../proxy/test/tls/certificates.ts";
import { startEchoBackend } from "../../../scripts/echo/backend.ts";
import { listen, type Listening } from "../../../scripts/echo/listen.ts";
import { readFolderFlags, translationFlags } from "../../src/command-flags.ts";
import { translateFolder } from "../../src/translate-folder.ts";
import { withGateway } from "../standalone/gateway.ts";
import type { Ports } from "./ask.ts";
import { startReplying, startTls } from "./backends.ts";
import { pemOf } from "./client-identities.ts";
import { certificateName, hostOf, type RuleFile } from "./rule-cases.ts";

export type ServedRules = {
  readonly ports: Ports;
  readonly findings: readonly Diagnostic[];
  close(): Promise<void>;
};

type Named = { readonly kind: string; readonly metadata: { readonly namespace?: string } };

const ingressClass = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "nginx" },
  spec: { controller: "k8s.io/ingress-nginx" },
};

/** All objects of files with the same settings. `ports`: the endpoints of each Service. */
export function manifestsOf(
  files: readonly RuleFile[],
  ports: ReadonlyMap<string, readonly Endpoint[]>,
): string {
  const cases = files.flatMap((file) => file.cases);
  const names = cases.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two cases are named ${twice}`);
  const shared = files.flatMap(({ objects }) => objects);
  const written = cases.flatMap(({ objects }) => objects);
  const namespaces = new Set(
    [...written, ...shared].flatMap((one) => (one as Named).metadata.namespace ?? []),
  );
  const objects = [
    ingressClass,
    configMapOf(files[0]?.config ?? {}),
    ...shared,
    ...written,
    ...[...namespaces].flatMap((namespace) =>
      [...ports].flatMap(([name, of]) => serviceOf(namespace, name, of)),
    ),
    ...cases
      .filter(({ objects: own }) => JSON.stringify(own).includes(certificateName))
      .map(({ name }) => certificateOf(name)),
  ];
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }).replaceAll(
    /\$\{pem:([a-z]+)\}/g,
    (_, name: string) => JSON.stringify(pemOf(name)).slice(1, -1),
  );
}

/** The flags of a gateway that serves a file. */
export const flagsOf = (file: RuleFile | undefined): readonly string[] => [
  ...["--ingress-nginx-classes", "nginx", "--ingress-nginx-configmap", "ingress-nginx/controller"],
  ...(file?.flags ?? []),
];

type Served = { readonly text: string; readonly flags: readonly string[] };

/**
 * Starts the Services that the cases need, and resolves once the cases are served. The files have the same settings.
 * `rewrite` returns the manifests and flags that are used instead of the written ones.
 */
export async function serveRules(
  files: readonly RuleFile[],
  rewrite: (written: Served) => Promise<Served> = (written) => Promise.resolve(written),
): Promise<ServedRules> {
  const { ports, servers } = await startServices(
    Object.assign({}, ...files.map(({ replies }) => replies)) as RuleFile["replies"],
  );
  const { text, flags } = await rewrite({ text: manifestsOf(files, ports), flags: flagsOf(files[0]) });
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let gone: Promise<void> = Promise.resolve();
  const started = await new Promise<Ports>((resolve, reject) => {
    gone = withGateway({ manifests: { "all.yaml": text }, flags }, async (gateway) => {
      resolve(gateway);
      await finished;
    });
    gone.catch(reject);
  });
  return {
    ports: started,
    findings: await findingsOf(text, flags),
    async close() {
      finish();
      await gone;
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** The findings that `check` reports about manifests. */
export async function findingsOf(text: string, flags: readonly string[]): Promise<readonly Diagnostic[]> {
  const argv = [...flags, "--port-map", "80=80,443=443"];
  const read = readFolderFlags(translationFlags, { argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  const input = (): Readable => Readable.from([text]);
  const translated = await translateFolder(["-"], read.value.settings, { input }, Date.UTC(2026, 0));
  if (!translated.ok) throw new Error(translated.error.join("\n"));
  return translated.value.translation.diagnostics;
}

export type Endpoint = { readonly host: string; readonly port: number };

const at = (port: number, host = "127.0.0.1"): Endpoint => ({ host, port });

/**
 * The endpoints of each Service: `pair` has those of two, `none` has none, `secure` speaks TLS. Beside that of `app`,
 * `refused` has an endpoint that refuses connections, `reset` one that ends them at a request, and `failing` one that answers 503;
 * `silent` answers nothing.
 */
export async function startServices(replies: RuleFile["replies"]): Promise<{
  readonly ports: ReadonlyMap<string, readonly Endpoint[]>;
  readonly servers: readonly Listening[];
}> {
  const names = ["app", "other", "third"];
  const echoes = await Promise.all(names.map((name) => startEchoBackend({ name })));
  const hidden = await startEchoBackend({ name: "secure" });
  const secure = await startTls(hidden.port);
  const closed = await startRaw((socket) => socket.destroy());
  const ending = await startRaw((socket) => void socket.once("data", () => socket.destroy()));
  const silent = await startRaw((socket) => void socket.resume());
  const failing = await startReplying("failing", [{ status: 503 }]);
  const replying = await Promise.all(
    Object.entries(replies).map(async ([name, list]) => [name, await startReplying(name, list)] as const),
  );
  const [app = 0, other = 0] = echoes.map(({ port }) => port);
  return {
    ports: new Map<string, readonly Endpoint[]>([
      ...names.map((name, index) => [name, [at(echoes[index]?.port ?? 0)]] as const),
      ["pair", [at(app), at(other)]],
      ["none", []],
      ["secure", [at(secure.port)]],
      // The port is taken at one address, so that no server can listen on it at the other one.
      ["refused", [at(closed.port, "127.0.0.2"), at(app)]],
      ["reset", [at(ending.port), at(app)]],
      ["failing", [at(failing.port), at(app)]],
      ["silent", [at(silent.port)]],
      ...replying.map(([name, { port }]) => [name, [at(port)]] as const),
    ]),
    servers: [
      ...echoes,
      hidden,
      secure,
      closed,
      ending,
      silent,
      failing,
      ...replying.map(([, server]) => server),
    ],
  };
}

/** A backend that does not speak HTTP. */
const startRaw = (onSocket: (socket: Socket) => void): Promise<Listening> =>
  listen(
    createServer((socket) => {
      socket.on("error", () => socket.destroy());
      onSocket(socket);
    }),
  );

/** `web` is the `targetPort` of its port 80. */
const serviceOf = (namespace: string, name: string, endpoints: readonly Endpoint[]): readonly object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { ports: [{ name: "http", port: 80, targetPort: "web" }] },
  },
  ...endpoints.map(({ host, port }, index) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-${index}`, namespace, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port }],
    endpoints: [{ addresses: [host] }],
  })),
];

const configMapOf = (data: Readonly<Record<string, string>>): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "controller", namespace: "ingress-nginx" },
  data,
});

function certificateOf(name: string): object {
  const { chainPem, keyPem } = issueCertificate([hostOf(name)]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: certificateName, namespace: name },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": chainPem, "tls.key": keyPem },
  };
}
