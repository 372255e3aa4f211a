/**
 * The gRPC backend of the bench, over HTTP/2 with prior knowledge: `grpc-backend.ts PORT`. `Unary` echoes the request's body,
 * `Stream` answers it `streamLength` times, each in a DATA frame of its own.
 */
import { createServer } from "node:http2";
import { streamLength } from "./grpc.ts";

const server = createServer({ settings: { maxConcurrentStreams: 1000, initialWindowSize: 1 << 20 } });
server.on("stream", (stream, headers) => {
  const pieces: Buffer[] = [];
  stream.on("error", () => undefined);
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    const message = Buffer.concat(pieces);
    const count = headers[":path"]?.endsWith("/Stream") === true ? streamLength : 1;
    for (let sent = 1; sent < count; sent++) stream.write(message);
    stream.end(message);
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1");
