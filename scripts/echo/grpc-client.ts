/**
 * Calls the echo backend over gRPC and prints messages and trailers, for users without grpcurl.
 *
 *   scripts/node scripts/echo/grpc-client.ts --authority grpc.example.com http://127.0.0.1:8080 one two three
 *   scripts/node scripts/echo/grpc-client.ts --ca ca.crt --authority grpc.example.com https://127.0.0.1:8443 hello
 */
import { readFileSync } from "node:fs";
import { connect, type ClientHttp2Session } from "node:http2";
import { parseArgs } from "node:util";
import { textOf } from "../../common/src/values/errors.ts";
import { createMessageReader, decodeText, encodeMessage, encodeText } from "./grpc-framing.ts";

export type CallResult = {
  readonly messages: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
  /** The trailers; in a trailers-only response, the headers. */
  readonly trailers: Readonly<Record<string, unknown>>;
};

/** Calls `echo.v1.Echo/Chat` with one message for each text. */
export function callEcho(
  session: ClientHttp2Session,
  texts: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<CallResult> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/echo.v1.Echo/Chat",
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const messages: string[] = [];
    const read = createMessageReader();
    let head: Readonly<Record<string, unknown>> = {};
    let trailers: Readonly<Record<string, unknown>> | undefined;
    stream.once("response", (fields) => (head = fields));
    stream.once("trailers", (fields) => (trailers = fields));
    stream.on("data", (chunk: Buffer) => {
      try {
        messages.push(...read(chunk).map(decodeText));
      } catch (error) {
        // A response that is not gRPC, such as an error page of a proxy.
        reject(error as Error);
        stream.destroy();
      }
    });
    stream.once("error", reject);
    stream.once("close", () => resolve({ messages, headers: head, trailers: trailers ?? head }));
    for (const text of texts) stream.write(encodeMessage(encodeText(text)));
    stream.end();
  });
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { authority: { type: "string" }, ca: { type: "string" } },
    allowPositionals: true,
  });
  const [url = "http://127.0.0.1:8080", ...texts] = positionals;
  const { authority = new URL(url).host, ca } = values;
  const session = connect(url, {
    servername: authority.replace(/:\d+$/, ""),
    ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
  });
  try {
    const call = callEcho(session, texts.length > 0 ? texts : ["hello"], { ":authority": authority });
    const failed = new Promise<never>((_, reject) => session.once("error", reject));
    const { messages, headers, trailers } = await Promise.race([call, failed]);
    for (const message of messages) console.log(message);
    console.log(`backend ${String(headers["echo-backend"])}, grpc-status ${String(trailers["grpc-status"])}`);
    process.exitCode = trailers["grpc-status"] === "0" ? 0 : 1;
  } catch (error) {
    console.error(textOf(error));
    process.exitCode = 1;
  } finally {
    session.close();
  }
}
