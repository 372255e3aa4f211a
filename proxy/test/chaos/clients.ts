/** Clients that request everything that is served, and leave at any time. */
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import type { Choices } from "./random.ts";

/** The longest time that a client waits before it leaves, in one way or another. */
const patienceMs = 250;

export type Wishes = {
  readonly port: number;
  readonly tlsPort: number;
  readonly hosts: readonly string[];
  readonly tokens: readonly string[];
};

type Asked = {
  readonly method: string;
  readonly host: string;
  readonly fields: string;
  readonly body: string;
};

function wish(choices: Choices, { hosts, tokens }: Wishes): Asked {
  const method = choices.one(["GET", "GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE"]);
  const basic = choices.one(["alice:secret", "alice:wrong", "bob:secret"]);
  const fields = [
    `Authorization: ${choices.one([`Bearer ${choices.one(tokens)}`, `Basic ${Buffer.from(basic).toString("base64")}`, "x"])}`,
    ...(choices.chance(0.3) ? ["Origin: https://shop.example", "Access-Control-Request-Method: PUT"] : []),
    ...(choices.chance(0.5) ? ["Accept-Encoding: br, gzip"] : []),
    ...(choices.chance(0.3) ? ["X-Forwarded-For: 203.0.113.7"] : []),
    ...(choices.chance(0.2) ? ["Expect: 100-continue"] : []),
    ...(choices.chance(0.1) ? ["Connection: Upgrade", "Upgrade: websocket"] : []),
    ...(choices.chance(0.1) ? ["Connection: close"] : []),
  ];
  const body = method === "POST" || method === "PUT" ? "b".repeat(choices.below(9_000)) : "";
  const host = choices.one(hosts);
  return { method, host, body, fields: fields.map((field) => `${field}\r\n`).join("") };
}

function written(choices: Choices, { method, host, fields, body }: Asked): string {
  const line = `${method} /${choices.one(["", "a", "a/b?c=d", "x%2fy"])} HTTP/1.1\r\nHost: ${host}\r\n${fields}`;
  if (body === "") return `${line}\r\n`;
  if (choices.chance(0.5)) return `${line}Content-Length: ${body.length}\r\n\r\n${body}`;
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n${choices.chance(0.3) ? "X-T: 1\r\n" : ""}\r\n`;
  return `${line}Transfer-Encoding: chunked\r\n\r\n${chunks}`;
}

/** A connection in cleartext or over TLS, which may name a host that has no certificate. */
function dial(choices: Choices, { port, tlsPort, hosts }: Wishes): Socket {
  if (choices.chance(0.7)) return connect({ host: "127.0.0.1", port });
  const target = { host: "127.0.0.1", port: tlsPort, rejectUnauthorized: false };
  return connectTls({ ...target, servername: choices.one(hosts), ALPNProtocols: ["http/1.1"] });
}

/** Ends a connection with a RST; over TLS Node only closes it. */
export const reset = (socket: Socket): unknown =>
  socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy();

/** One connection with some requests one after another, of which the last may be cut anywhere. */
export function askOverHttp1(choices: Choices, wishes: Wishes): Promise<void> {
  const requests = Array.from({ length: 1 + choices.below(4) }, () =>
    written(choices, wish(choices, wishes)),
  );
  const text = requests.join("");
  const bytes = choices.chance(0.3) ? text.slice(0, choices.below(text.length)) : text;
  const isSlow = choices.chance(0.1);
  const leave = choices.below(3);
  const leavesAfter = choices.chance(0.4) ? choices.below(3) : 99;
  return new Promise((resolve) => {
    const socket = dial(choices, wishes);
    let pieces = 0;
    const go = (): void => {
      if (leave === 0) reset(socket);
      else if (leave === 1) socket.destroy();
      else {
        socket.end(() => socket.destroy());
        // A client that sends to a peer that does not read never finishes.
        setTimeout(() => socket.destroy(), patienceMs);
      }
    };
    const timer = setTimeout(go, patienceMs);
    socket.on("error", () => {});
    socket.on("data", () => {
      if (isSlow) socket.pause();
      if (++pieces > leavesAfter) go();
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    const half = choices.below(bytes.length + 1);
    socket.write(bytes.slice(0, half), "latin1");
    setImmediate(() => socket.write(bytes.slice(half), "latin1"));
  });
}

/** One connection with some streams at a time, of which some are cancelled. */
export function askOverHttp2(choices: Choices, wishes: Wishes): Promise<void> {
  return new Promise((resolve) => {
    const isSecure = choices.chance(0.3);
    const session = isSecure
      ? connectHttp2(`https://127.0.0.1:${wishes.tlsPort}`, {
          servername: choices.one(wishes.hosts),
          rejectUnauthorized: false,
        })
      : connectHttp2(`http://127.0.0.1:${wishes.port}`);
    session.on("error", () => {});
    const timer = setTimeout(() => session.destroy(), patienceMs);
    session.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    let open = 1 + choices.below(5);
    for (let stream = open; stream > 0; stream--) {
      const { method, host, body } = wish(choices, wishes);
      const asked = session.request(
        {
          ":method": method,
          ":path": "/a",
          ":authority": host,
          authorization: `Bearer ${choices.one(wishes.tokens)}`,
          ...(choices.chance(0.2) && { "content-type": "application/grpc", te: "trailers" }),
        },
        { endStream: body === "" },
      );
      asked.on("error", () => {});
      asked.on("close", () => {
        if (--open === 0) session.close();
      });
      if (choices.chance(0.7)) asked.resume();
      if (body !== "") asked.end(body);
      if (choices.chance(0.3)) setImmediate(() => asked.close(8));
    }
  });
}
