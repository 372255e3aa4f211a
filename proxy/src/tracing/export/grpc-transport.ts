/**
 * Calls of gRPC to a collector. A client that gets no answer is replaced by the next call, which so waits neither for an address that drops
 * packets, nor for a peer that is silent, nor for the end of a backoff (docs/adr/0034-tracing.md).
 */
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { ExportResponse, IExporterTransport } from "@opentelemetry/otlp-exporter-base";

export type GrpcTarget = {
  /** `https` for TLS. Its path does not count. */
  readonly endpoint: URL;
  /** As in `/package.Service/Method`. */
  readonly method: string;
  /** Metadata of each call, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificate authorities of the collector in PEM; undefined: those of Node.js. */
  readonly caBundle: Buffer | undefined;
};

const options = {
  // A client that takes the place of another one would wait for the connection that the other one is making.
  "grpc.use_local_subchannel_pool": 1,
  // The address is the one that was configured, whatever the environment says of proxies.
  "grpc.enable_http_proxy": 0,
} as const;

/** There is no connection, or nothing comes over it. */
const lost: ReadonlySet<status> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);

/** Creates a transport that connects with its first call, and with the first one after its connection was lost. */
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

/** Messages are encoded and decoded elsewhere. */
const asItIs = (message: Uint8Array): Buffer =>
  Buffer.from(message.buffer, message.byteOffset, message.length);

const failure = (error: unknown): ExportResponse => ({
  status: "failure",
  error: error instanceof Error ? error : new Error(String(error)),
});
