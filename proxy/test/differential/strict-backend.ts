import { startTcp } from "../integration/gateway.ts";
import { readRequests, type ReadRequest } from "./reference-parser.ts";

/**
 * A backend that reads its input with the strict parser, and answers each request completely with the body that
 * `answer` returns. Input that it cannot parse is added to `faults`.
 */
export const startStrictBackend = (
  faults: string[],
  answer: (request: ReadRequest) => string,
): ReturnType<typeof startTcp> =>
  startTcp((socket) => {
    let bytes = "";
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.toString("latin1");
      const { requests, consumed, end } = readRequests(bytes);
      bytes = bytes.slice(consumed);
      if (typeof end === "object") faults.push(`${end.fault}: ${JSON.stringify(bytes)}`);
      for (const request of requests) {
        const body = answer(request);
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }
    });
  });
