/** The Services of a case of the corpus, each with one endpoint, and the Secrets of its hosts. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { issueCertificate } from "../../../proxy/test/tls/certificates.ts";
import { startEchoBackend } from "../../../scripts/echo/backend.ts";
import { listen, type Listening } from "../../../scripts/echo/listen.ts";
import { servicesOf, type CorpusCase, type Reply } from "./cases.ts";

export type CaseBackends = {
  /** Services, their EndpointSlices, and Secrets that the case does not have itself. */
  readonly objects: readonly object[];
  /** Certificates with keys, and htpasswd files, by the name of their Secret. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** The loopback port of each Service. */
  readonly ports: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

/** The Services of a case with endpoints that nothing listens on, and the Secrets of its hosts. */
export const placeBackends = (one: CorpusCase): readonly object[] => [
  ...[...servicesOf(one)].flatMap(([name, written]) => serviceObjects(one.name, name, written, 8080)),
  ...[...issueSecrets(one)].map(([name, stringData]) => tlsSecret(one.name, name, stringData)),
];

/** Starts the Services that the paths of a case refer to. */
export async function startBackends(one: CorpusCase): Promise<CaseBackends> {
  const started: Listening[] = [];
  const objects: object[] = [];
  const ports = new Map<string, number>();
  const start = async (starting: Promise<Listening>): Promise<number> => {
    const server = await starting;
    started.push(server);
    return server.port;
  };
  for (const [name, written] of servicesOf(one)) {
    const replies = one.backends.replies?.[name];
    const plain = await start(
      replies === undefined ? startEchoBackend({ name }) : startReplying(name, replies),
    );
    const isTls = one.backends.tls?.includes(name) === true;
    const port = isTls ? await start(startTls(plain)) : plain;
    ports.set(name, port);
    objects.push(...serviceObjects(one.name, name, written, port));
  }
  const issued = issueSecrets(one);
  const own = one.objects.flatMap(({ kind, metadata, stringData = {} }) =>
    kind === "Secret" ? [[metadata.name, stringData] as const] : [],
  );
  return {
    objects: [...objects, ...[...issued].map(([name, stringData]) => tlsSecret(one.name, name, stringData))],
    secrets: new Map([...issued, ...own]),
    ports,
    async close() {
      await Promise.all(started.map((server) => server.close()));
    },
  };
}

const tlsSecret = (
  namespace: string,
  name: string,
  stringData: Readonly<Record<string, string>>,
): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace },
  type: "kubernetes.io/tls",
  stringData,
});

function serviceObjects(
  namespace: string,
  name: string,
  ports: readonly (string | number)[],
  port: number,
): readonly object[] {
  const named = ports.map((written, at) =>
    typeof written === "number" ? { name: `p${written}`, port: written } : { name: written, port: 9000 + at },
  );
  return [
    { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { ports: named } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${name}-1`, namespace, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: named.map((one) => ({ name: one.name, port })),
      endpoints: [{ addresses: ["127.0.0.1"] }],
    },
  ];
}

/** The Secret of hosts that name none, which nothing refers to: ingress-nginx has its default certificate for them. */
export const defaultCertificate = "default-certificate";

/** The certificates that cert-manager would have issued. */
function issueSecrets({ objects }: CorpusCase): CaseBackends["secrets"] {
  const present = new Set(objects.flatMap(({ kind, metadata }) => (kind === "Secret" ? metadata.name : [])));
  const hosts = new Map<string, Set<string>>();
  for (const { secretName = defaultCertificate, hosts: names } of objects.flatMap(
    ({ spec }) => spec?.tls ?? [],
  )) {
    if (!present.has(secretName)) {
      hosts.set(secretName, new Set([...(hosts.get(secretName) ?? []), ...names]));
    }
  }
  return new Map(
    [...hosts].map(([name, names]) => {
      const { chainPem, keyPem } = issueCertificate([...names]);
      return [name, { "tls.crt": chainPem, "tls.key": keyPem }];
    }),
  );
}

/** Ends TLS in front of a port, for HTTP/1.1 and HTTP/2. */
export async function startTls(target: number): Promise<Listening> {
  const { chainPem, keyPem } = issueCertificate(["backend.invalid"]);
  const server = createTlsServer(
    { cert: chainPem, key: keyPem, ALPNProtocols: ["h2", "http/1.1"] },
    (socket) => {
      const inner = connect(target, "127.0.0.1");
      inner.on("error", () => socket.destroy());
      socket.on("error", () => inner.destroy());
      socket.pipe(inner).pipe(socket);
    },
  );
  return listen(server);
}

/** A backend with fixed responses, whose bodies describe the request. */
export function startReplying(name: string, replies: readonly Reply[]): Promise<Listening> {
  const given = new Map<Reply, number>();
  const next = (request: IncomingMessage): Reply => {
    const reply = replies.find(
      (one) => isFor(one, request) && (given.get(one) ?? 0) < (one.times ?? Number.POSITIVE_INFINITY),
    );
    if (reply !== undefined) given.set(reply, (given.get(reply) ?? 0) + 1);
    return reply ?? { status: 500 };
  };
  return listen(
    createServer((request: IncomingMessage, response: ServerResponse) => {
      const { status, headers = {} } = next(request);
      request.resume();
      const seen: [string, string][] = [];
      for (let at = 0; at < request.rawHeaders.length; at += 2) {
        seen.push([request.rawHeaders[at] ?? "", request.rawHeaders[at + 1] ?? ""]);
      }
      const about = { path: request.url, host: request.headers.host, headers: seen };
      response.writeHead(status, { ...headers, "echo-backend": name });
      response.end(JSON.stringify(about));
    }),
  );
}

const isFor = ({ when = {} }: Reply, { headers }: IncomingMessage): boolean =>
  Object.entries(when).every(([name, value]) => headers[name] === value);
