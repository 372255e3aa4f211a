/**
 * An authorization service of Envoy's API as a pod runs it until SIGTERM, on port 8080. A request with `x-user` is
 * allowed, with the user in `x-checked-user` to the backend; every other one, and a body `forbidden`, is denied.
 */
import { createServer, type ServerHttp2Stream } from "node:http2";
import { CheckRequest, CheckResponse } from "@svc-gateway/proto/generated/ext-authz.js";
import { createMessageReader, encodeMessage } from "../../scripts/echo/grpc-framing.ts";

const pod = process.env["POD_NAME"] ?? "authorization";
const field = (key: string, value: string) => ({ header: { key, value } });

function judge({ attributes }: CheckRequest): CheckResponse {
  const { http } = attributes.request;
  const user = http.headers.get("x-user");
  if (user !== undefined && http.body !== "forbidden") {
    return CheckResponse.fromObject({ ok_response: { headers: [field("x-checked-user", user)] } });
  }
  return CheckResponse.fromObject({
    status: { code: 7 },
    denied_response: {
      status: { code: user === undefined ? 401 : 403 },
      headers: [field("x-refused-by", pod)],
      body: `${http.method} ${http.path} of ${attributes.context_extensions.get("route")} is refused`,
    },
  });
}

function answer(stream: ServerHttp2Stream): void {
  const read = createMessageReader();
  stream.on("error", () => stream.destroy());
  stream.on("data", (chunk: Buffer) => {
    for (const message of read(chunk)) {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(encodeMessage(judge(CheckRequest.deserialize(message)).serialize()));
    }
  });
}

const server = createServer();
server.on("stream", answer);
server.listen(8080, "0.0.0.0");
process.once("SIGTERM", () => server.close());
