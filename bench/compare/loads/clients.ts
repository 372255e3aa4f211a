/**
 * A load generator in Node.js for loads that wrk and h2load cannot generate. run.ts of this folder runs it in a
 * process of its own, pinned to the processor of the loads: `clients.ts <kind> <JSON of options>`. Prints one JSON
 * object.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { setTimeout as delay } from "node:timers/promises";

type Options = {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly seconds: number;
  readonly count: number;
};

const kinds = {
  "full-handshakes": handshakes,
  "resumed-handshakes": handshakes,
  websocket,
  idle,
  "idle-tls": idle,
} as const;
type Kind = keyof typeof kinds;

type Result = { readonly units: number; readonly errors: number };

/**
 * The TLS parameters that every handshake client offers. With the defaults, proxies with OpenSSL 3.5 or BoringSSL
 * would agree on X25519MLKEM768, which costs more than the X25519 of proxies that do not support it.
 */
const offers = {
  full: { ecdhCurve: "X25519", minVersion: "TLSv1.3" },
  // P-256 is for the certificate: TLS 1.2 has no separate setting for it.
  resumed: { ecdhCurve: "X25519:P-256", maxVersion: "TLSv1.2" },
} as const;

/** Makes `count` clients connect repeatedly; each connection is closed when its handshake is complete. */
async function handshakes({ port, host, seconds, count }: Options, kind: Kind): Promise<Result> {
  const endMs = performance.now() + seconds * 1000;
  let units = 0;
  let errors = 0;
  const client = async (): Promise<void> => {
    let session: Buffer | undefined;
    while (performance.now() < endMs) {
      const socket = connectTls({
        ...{ host: "127.0.0.1", port, servername: host, rejectUnauthorized: false },
        ...(kind === "resumed-handshakes" ? { ...offers.resumed, session } : offers.full),
      });
      try {
        await once(socket, "secureConnect");
        if (kind === "resumed-handshakes" && session === undefined) session = socket.getSession();
        else units++;
      } catch {
        errors++;
      }
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: count }, client));
  return { units, errors };
}

/** Makes `count` connections send messages of 64 bytes, and wait for the echo of each. */
async function websocket({ port, host, path, seconds, count }: Options): Promise<Result> {
  const upgrade = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  // A masked text frame, which the backend echoes unchanged.
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | 64, 0, 0, 0, 0]), Buffer.alloc(64, "a")]);
  let units = 0;
  let errors = 0;
  let isOver = false;
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect(port, "127.0.0.1").setNoDelay();
    sockets.push(socket);
    socket.on("error", () => errors++);
    socket.write(`${upgrade.join("\r\n")}\r\n\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    if (!head.toString("latin1").startsWith("HTTP/1.1 101")) throw new Error(head.toString("latin1"));
    let received = 0;
    socket.on("data", (piece: Buffer) => {
      received += piece.length;
      if (received < frame.length) return;
      received -= frame.length;
      units++;
      if (!isOver) socket.write(frame);
    });
  }
  for (const socket of sockets) socket.write(frame);
  await delay(seconds * 1000);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return { units, errors };
}

/** Makes `count` connections send one request each, and stay idle until this process ends. */
async function idle({ port, host, path, count }: Options, kind: Kind): Promise<Result> {
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  let errors = 0;
  const open = async (): Promise<void> => {
    const socket: Socket | TLSSocket =
      kind === "idle-tls"
        ? connectTls({ host: "127.0.0.1", port, servername: host, rejectUnauthorized: false })
        : connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    const closed = once(socket, "close").then(
      () => "closed",
      () => "reset",
    );
    const answered = async (): Promise<void> => {
      await once(socket, kind === "idle-tls" ? "secureConnect" : "connect");
      socket.write(request);
      await once(socket, "data");
    };
    // A proxy without free descriptors resets or closes some connections, which must not end the whole run.
    if ((await Promise.race([answered().catch(() => "failed"), closed])) !== undefined) errors++;
  };
  for (let opened = 0; opened < count; opened += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - opened) }, open));
  }
  return { units: count - errors, errors };
}

const [kind = "websocket", options = "{}"] = process.argv.slice(2);
const result = await kinds[kind as Kind](JSON.parse(options) as Options, kind as Kind);
process.stdout.write(`${JSON.stringify(result)}\n`);
if (kind.startsWith("idle")) setInterval(() => undefined, 60_000);
else process.exit(0);
