/**
 * Calls of gRPC to a collector, over one connection. A call that gets no answer in time takes its connection with it, so that the next one
 * waits neither for an address that drops packets nor for a peer that is silent (docs/adr/0034-tracing.md).
 */
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ExportResponse, IExporterTransport } from "@opentelemetry/otlp-exporter-base";
import { textOf } from "@svc-gateway/common/values/errors.ts";

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

type Connection = { readonly session: ClientHttp2Session; readonly socket: Socket };

/** Answers of more bytes are not read. */
const maxAnswerBytes = 4 * 1024 * 1024;

/** Creates a transport that connects with its first call, and with the first one after its connection has ended. */
export function createGrpcTransport(target: GrpcTarget): IExporterTransport {
  let connection: Connection | undefined;
  const close = ({ session, socket }: Connection): void => {
    session.destroy();
    // Until it is connected, a socket is not the session's to close.
    socket.destroy();
  };
  return {
    async send(message, timeoutMs) {
      if (connection === undefined || isOver(connection)) connection = open(target);
      const own = connection;
      const answer = await call(own.session, { target, message, timeoutMs });
      if (answer !== undefined) return answer;
      close(own);
      return failure("the collector did not answer in time");
    },
    shutdown() {
      if (connection !== undefined) close(connection);
    },
  };
}

/** Whether it takes no more calls. */
const isOver = ({ session }: Connection): boolean => session.closed || session.destroyed;

function open({ endpoint, caBundle }: GrpcTarget): Connection {
  const isTls = endpoint.protocol === "https:";
  const host = endpoint.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(endpoint.port) || (isTls ? 443 : 80);
  const socket = isTls
    ? connectTls({
        ...{ host, port, ALPNProtocols: ["h2"] },
        ...(isIP(host) === 0 && { servername: host }),
        ...(caBundle !== undefined && { ca: caBundle }),
      })
    : connectTcp({ host, port });
  socket.setNoDelay(true).unref();
  const session = connect(endpoint.origin, { createConnection: () => socket });
  // Calls report it; between calls it only means that the next one connects.
  session.on("error", () => undefined);
  return { session, socket };
}

type Call = { readonly target: GrpcTarget; readonly message: Uint8Array; readonly timeoutMs: number };

/** A message begins with whether it is compressed, in one byte, and with its length. */
const prefixBytes = 5;

/** Makes a unary call (gRPC over HTTP2, "Requests" and "Responses"). Undefined: it was not answered in time. Never rejects. */
function call(
  session: ClientHttp2Session,
  { target: { endpoint, method, headers }, message, timeoutMs }: Call,
): Promise<ExportResponse | undefined> {
  const { promise, resolve } = Promise.withResolvers<ExportResponse | undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    const stream = session.request({
      ...headers,
      ":method": "POST",
      ":scheme": endpoint.protocol.slice(0, -1),
      ":authority": endpoint.host,
      ":path": method,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-timeout": `${timeoutMs}m`,
      "user-agent": "svc-gateway",
    });
    let fields: IncomingHttpHeaders = {};
    const parts: Buffer[] = [];
    let bytes = 0;
    const add = (some: IncomingHttpHeaders): void => void (fields = { ...fields, ...some });
    stream.on("response", add).on("trailers", add);
    stream.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxAnswerBytes) parts.push(part);
      else stream.destroy(new Error(`the answer has more than ${maxAnswerBytes} bytes`));
    });
    stream.once("error", (error) => resolve(failure(textOf(error.cause ?? error))));
    stream.once("close", () => resolve(readAnswer(fields, Buffer.concat(parts))));
    const prefix = Buffer.alloc(prefixBytes);
    prefix.writeUInt32BE(message.length, 1);
    stream.write(prefix);
    stream.end(message);
  } catch (error) {
    // Headers that HTTP/2 does not have, such as `connection`.
    resolve(failure(textOf(error)));
  }
  return promise.finally(() => clearTimeout(timer));
}

function readAnswer(fields: IncomingHttpHeaders, body: Buffer): ExportResponse {
  const status = fields["grpc-status"]?.toString();
  if (status === "0") return { status: "success", data: body.subarray(prefixBytes) };
  if (status === undefined)
    return failure(`HTTP status ${fields[":status"] ?? "none"}, without a status of gRPC`);
  return failure(`status ${status} of gRPC: ${decode(fields["grpc-message"]?.toString() ?? "")}`);
}

/** The text of a message, which is percent-encoded; as it is where that cannot be decoded. */
function decode(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

const failure = (why: string): ExportResponse => ({ status: "failure", error: new Error(why) });
