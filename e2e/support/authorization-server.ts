/**
 * An authorization service with the API of Envoy, which a pod runs on port 8080 until SIGTERM. It allows requests
 * with `x-user`, and adds the user to the backend request as `x-checked-user`. It denies all other requests, and a
 * body `forbidden`.
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
