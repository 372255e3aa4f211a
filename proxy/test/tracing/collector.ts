import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type handleUnaryCall,
  type Metadata,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";

type KeyValue = {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>> & { readonly value: string };
};

type Request = {
  readonly resource_spans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_spans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly {
        readonly trace_id: Buffer;
        readonly span_id: Buffer;
        readonly parent_span_id: Buffer;
        readonly trace_state: string;
        readonly name: string;
        readonly kind: number;
        readonly start_time_unix_nano: string;
        readonly end_time_unix_nano: string;
        readonly attributes: readonly KeyValue[];
        readonly flags: number;
        readonly status: { readonly code: number; readonly message: string } | null;
      }[];
    }[];
  }[];
};

/** A span as a collector gets it. */
export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly state: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly message: string;
};

export type Collector = {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The fields of the last request. */
  headers(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
};

const serviceName = "opentelemetry.proto.collector.trace.v1.TraceService";
const definition: PackageDefinition = loadSync(fileURLToPath(new URL("otlp.proto", import.meta.url)), {
  keepCase: true,
  longs: String,
  defaults: true,
  oneofs: true,
});
const service = definition[serviceName] as ServiceClientConstructor["service"];

/** A collector of OTLP over HTTP with protobuf. `answer` replaces its handler; `success` is its usual response. */
export async function startHttpCollector(answer?: RequestListener, success: object = {}): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let headers: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    if (answer !== undefined) return answer(request, response);
    ({ headers } = request);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const isWanted = request.url === "/v1/traces" && headers["content-type"] === "application/x-protobuf";
      if (isWanted)
        spans.push(...read(service["Export"]?.requestDeserialize(Buffer.concat(chunks)) as Request));
      response
        .writeHead(isWanted ? 200 : 404, { "Content-Type": "application/x-protobuf" })
        .end(service["Export"]?.responseSerialize(success));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers: () => headers,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A collector that takes OTLP over gRPC; `identity`: over TLS with this certificate. */
export async function startGrpcCollector(
  success: object = {},
  identity?: { readonly chainPem: string; readonly keyPem: string },
): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let metadata: Metadata | undefined;
  const server = new Server();
  loadPackageDefinition(definition);
  const take: handleUnaryCall<Request, object> = (call, done) => {
    ({ metadata } = call);
    spans.push(...read(call.request));
    done(null, success);
  };
  server.addService(service, { Export: take });
  const port = await new Promise<number>((resolve, reject) => {
    const credentials =
      identity === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [
            { cert_chain: Buffer.from(identity.chainPem), private_key: Buffer.from(identity.keyPem) },
          ]);
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    url: `${identity === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    spans,
    headers: () => metadata?.getMap() ?? {},
    close() {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

/** The spans of an encoded request. */
export const decodeExport = (bytes: Uint8Array): readonly CollectedSpan[] =>
  read(service["Export"]?.requestDeserialize(Buffer.from(bytes)) as Request);

const read = ({ resource_spans }: Request): readonly CollectedSpan[] =>
  resource_spans.flatMap(({ resource, scope_spans }) =>
    scope_spans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.trace_id.toString("hex"),
        spanId: span.span_id.toString("hex"),
        parentId: span.parent_span_id.toString("hex"),
        state: span.trace_state,
        flags: span.flags,
        name: span.name,
        kind: span.kind,
        startNs: BigInt(span.start_time_unix_nano),
        endNs: BigInt(span.end_time_unix_nano),
        attributes: plain(span.attributes),
        resource: plain(resource.attributes),
        status: span.status?.code ?? 0,
        message: span.status?.message ?? "",
      })),
    ),
  );

const plain = (attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.value === "int_value" ? Number(value["int_value"]) : value[value.value],
    ]),
  );
