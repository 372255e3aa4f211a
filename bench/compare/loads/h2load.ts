import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "../../processes.ts";
import { benchHost, benchPath, browserHeaders, grpcHost } from "../setup.ts";
import { numberIn, runPinned, type Load } from "./load.ts";

type H2loadOptions = {
  readonly secure?: boolean;
  /** Sends HTTP/1.1 instead of HTTP/2, with one request in flight on each connection. */
  readonly http1?: boolean;
  readonly host?: string;
  readonly path?: string;
  /** The body of a POST request; without it, the method is GET. */
  readonly body?: Buffer;
  readonly headers?: readonly string[];
  /** The number of connections; `streams` is the number of requests in flight on each. */
  readonly connections?: number;
  readonly streams?: number;
  /** The number of units that one response counts as, such as the messages of a gRPC stream. */
  readonly unitsPerResponse?: number;
};

/**
 * HTTP/2 with several requests in flight on each of a few connections; or HTTP/1.1 over TLS, which wrk sends without
 * a server name.
 */
export function h2load(options: H2loadOptions = {}): Load {
  const {
    secure = false,
    http1 = false,
    host = benchHost,
    path = benchPath,
    body,
    unitsPerResponse = 1,
  } = options;
  const { headers = browserHeaders, connections = 8, streams = 16 } = options;
  return async ({ ports }, seconds) => {
    const folder = temporaryFolder("h2load");
    try {
      const upload = body === undefined ? [] : ["-d", writeBody(folder, body)];
      const text = await runPinned("h2load", [
        ...["-t1", `-c${connections}`, `-m${http1 ? 1 : streams}`, "-D", String(seconds), ...upload],
        ...(http1 ? ["--h1"] : []),
        // An address in the URL would be sent as the server name, by which the certificate is chosen.
        ...["--connect-to", `127.0.0.1:${secure ? ports.https : ports.h2c}`],
        ...headers.flatMap((field) => ["-H", field]),
        `${secure ? "https" : "http"}://${host}${path}`,
      ]);
      const answered = numberIn(text, /status codes: (\d+) 2xx/);
      const others = /status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/.exec(text)?.slice(1) ?? [];
      const errors = others.reduce((sum, count) => sum + Number(count), 0);
      return { units: answered * unitsPerResponse, errors };
    } finally {
      removeFolder(folder);
    }
  };
}

/**
 * Makes gRPC calls with one message each, which the backend answers with one message or a stream; see
 * native/grpc-backend.c.
 */
export function grpcCalls(method: "Unary" | "Stream", unitsPerResponse: number): Load {
  // The backend does not read header fields; the first letter of the message selects the method.
  const message = Buffer.alloc(128, method === "Stream" ? "s" : "a");
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return h2load({
    host: grpcHost,
    path: `/bench.Echo/${method}`,
    body: Buffer.concat([prefix, message]),
    headers: ["content-type: application/grpc", "te: trailers", "user-agent: grpc-bench/1"],
    unitsPerResponse,
  });
}

function writeBody(folder: string, body: Buffer): string {
  const file = join(folder, "body");
  writeFileSync(file, body);
  return file;
}
