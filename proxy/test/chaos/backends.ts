/** Backends that fail in ways that are chosen for each request. */
import { createServer as createHttp2Server, type Http2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { startTcp } from "../integration/gateway.ts";
import type { Choices } from "./random.ts";

const filler = "x".repeat(70_000);
const head = (more: string, status = "200 OK"): string => `HTTP/1.1 ${status}\r\n${more}\r\n`;

type Behaviour = (socket: Socket, choices: Choices) => void;

const answer =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text);
const last =
  (text: string): Behaviour =>
  (socket) =>
    void socket.end(text);

/** The possible reactions of an HTTP/1 backend to a request. */
const behaviours: readonly Behaviour[] = [
  answer(head("Content-Length: 2\r\n") + "ok"),
  answer(head("Content-Length: 2\r\nContent-Type: text/plain\r\nSet-Cookie: a=1\r\nX-User: root\r\n") + "ok"),
  answer(head(`Content-Length: ${filler.length}\r\nContent-Type: text/plain\r\n`) + filler),
  answer(
    head("Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n") +
      "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
  ),
  answer(head("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n") + "1\r\nx\r\n0\r\n\r\n"),
  last(head("Content-Type: text/html\r\n") + filler),
  answer(head("Content-Length: 0\r\n", "204 No Content")),
  answer(head("", "304 Not Modified")),
  answer(head("Content-Length: 0\r\nRetry-After: 1\r\n", "503 Service Unavailable")),
  answer(
    head("", "100 Continue") +
      head("Link: </a>\r\n", "103 Early Hints") +
      head("Content-Length: 1\r\n") +
      "x",
  ),
  answer(head("Connection: Upgrade\r\nUpgrade: websocket\r\n", "101 Switching Protocols") + "frame"),
  // Broken in one way each.
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  () => {},
  last("HTTP/1.1 200"),
  last(head("Content-Length: 10\r\n") + "short"),
  last(head("Transfer-Encoding: chunked\r\n") + "ff\r\nshort"),
  last(head("Transfer-Encoding: chunked\r\n") + "zz\r\n"),
  last("SSH-2.0-OpenSSH\r\n"),
  last(head("Content-Length: 1\r\nContent-Length: 2\r\n") + "xx"),
  last(head(`X-Large: ${filler}\r\nContent-Length: 0\r\n`)),
  answer(head("Content-Length: 2\r\n") + "ok" + head("Content-Length: 5\r\n") + "extra"),
  (socket) => {
    socket.write(head("Content-Length: 700000\r\n") + filler);
    setImmediate(() => socket.resetAndDestroy());
  },
  (socket, choices) => {
    const text = head("Content-Length: 20\r\nContent-Type: text/plain\r\n") + "y".repeat(20);
    const at = choices.below(text.length);
    socket.write(text.slice(0, at));
    setImmediate(() => void socket.write(text.slice(at)));
  },
  (socket) =>
    void socket.write(
      Buffer.concat([Buffer.from(head("Content-Length: 20\r\n")), gzipSync("x").subarray(0, 20)]),
    ),
];

/** An HTTP/1 backend. It answers once for each piece of any bytes that arrives. */
export const startFailing = (choices: Choices): ReturnType<typeof startTcp> =>
  startTcp((socket) => {
    socket.on("data", () => {
      if (!socket.destroyed && socket.writable) choices.one(behaviours)(socket, choices);
    });
  });

/** An authorization service: allows, refuses, or fails. */
export const startGate = (choices: Choices): ReturnType<typeof startTcp> =>
  startTcp((socket) => {
    socket.on("data", () => {
      if (socket.destroyed || !socket.writable) return;
      if (choices.chance(0.7)) {
        socket.write(head("Content-Length: 0\r\nX-User: alice\r\nSet-Cookie: s=1\r\n"));
      } else if (choices.chance(0.5)) {
        socket.write(head("Content-Length: 2\r\n", "403 Forbidden") + "no");
      } else choices.one(behaviours)(socket, choices);
    });
  });

/** An HTTP/2 backend with prior knowledge. */
export async function startFailingHttp2(
  choices: Choices,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sessions = new Set<Http2Session>();
  const server = createHttp2Server();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    const kind = choices.below(7);
    if (kind === 0) return stream.close(choices.below(14));
    if (kind === 1) return stream.session?.goaway(choices.below(2));
    if (kind === 2) return stream.session?.destroy();
    if (kind === 3) return undefined;
    stream.respond({ ":status": kind === 4 ? 503 : 200, "content-type": "text/plain" });
    if (kind === 5) stream.write(filler, () => stream.close(2));
    else stream.end("over HTTP/2");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const session of sessions) session.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}
