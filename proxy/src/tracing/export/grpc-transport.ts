/**
 * gRPC calls to a collector. The next call replaces a client that got no answer, and therefore does not wait for an
 * address that drops packets, for a silent peer, or for the end of a backoff (docs/adr/0034-tracing.md).
 */
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { ExportResponse, IExporterTransport } from "@opentelemetry/otlp-exporter-base";

export type GrpcTarget = {
  /** The URL of the collector, with the scheme `https` for TLS; its path is ignored. */
  readonly endpoint: URL;
  /** The method, in the form `/package.Service/Method`. */
  readonly method: string;
  /** The metadata of each call, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The certificate authorities to trust, in PEM; undefined for those of Node.js. */
  readonly caBundle: Buffer | undefined;
};

const options = {
  // With a shared pool, a client that replaces another would wait for the connection that the other is making.
  "grpc.use_local_subchannel_pool": 1,
  // Always connects to the configured address, regardless of proxies in the environment.
  "grpc.enable_http_proxy": 0,
} as const;

/** The statuses of a call without a connection, or whose connection is silent. */
const lost: ReadonlySet<status> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);

/** Creates a transport that connects at its first call, and again at the first call after its connection was lost. */
export function createGrpcTransport(target: GrpcTarget): IExporterTransport {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(target.headers)) metadata.set(name, value);
  let client: Client | undefined;
  return {
    send(message, timeoutMs) {
      const own = (client ??= open(target));
      return new Promise((resolve) => {
        const answered = (error: ServiceError | null, data?: Uint8Array): void => {
          if (error === null) return resolve({ status: "success", ...(data && { data }) });
          if (lost.has(error.code)) {
            own.close();
            if (client === own) client = undefined;
          }
          resolve(failure(error));
        };
        const deadline = Date.now() + timeoutMs;
        try {
          own.makeUnaryRequest(target.method, asItIs, asItIs, message, metadata, { deadline }, answered);
        } catch (error) {
          resolve(failure(error));
        }
      });
    },
    shutdown() {
      client?.close();
    },
  };
}

function open({ endpoint, caBundle }: GrpcTarget): Client {
  const isTls = endpoint.protocol === "https:";
  const port = endpoint.port || (isTls ? "443" : "80");
  const security = isTls ? credentials.createSsl(caBundle ?? null) : credentials.createInsecure();
  return new Client(`${endpoint.hostname}:${port}`, security, options);
}

/** The serialiser and deserialiser of calls: messages are encoded and decoded elsewhere. */
const asItIs = (message: Uint8Array): Buffer =>
  Buffer.from(message.buffer, message.byteOffset, message.length);

const failure = (error: unknown): ExportResponse => ({
  status: "failure",
  error: error instanceof Error ? error : new Error(String(error)),
});
