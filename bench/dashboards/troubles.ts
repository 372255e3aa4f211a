/** Traffic that the soak does not have: clients whose requests are refused or fail, and clients of TCP and UDP. */
import { createSocket } from "node:dgram";
import { request } from "node:http";
import { connect } from "node:net";
import { connect as connectSecurely, type SecureVersion } from "node:tls";
import { around, pause } from "../soak/stage.ts";

export type Target = {
  readonly host: string;
  /** Ports of the proxies, by the port of the Gateway that clients use. */
  readonly ports: ReadonlyMap<number, number>;
  readonly signal: AbortSignal;
};

type Visit = {
  readonly host: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bodyBytes?: number;
  readonly everyMs: number;
};

const passwordOf = (user: string, password: string): Readonly<Record<string, string>> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

/** A well-formed token with an unknown key. */
const token = ["eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ", "eyJpc3MiOiJhIn0", "c2ln"].join(".");

const visits: readonly Visit[] = [
  { host: "shop.example.com", everyMs: 100 },
  { host: "shop.example.com", path: "/search", everyMs: 2000 },
  { host: "unknown.example.com", everyMs: 1500 },
  { host: "stock.example.com", everyMs: 150 },
  { host: "slow.example.com", path: "/slow", everyMs: 1500 },
  { host: "private.example.com", headers: passwordOf("alice", "secret"), everyMs: 700 },
  { host: "private.example.com", headers: passwordOf("alice", "guess"), everyMs: 3000 },
  { host: "private.example.com", headers: passwordOf("mallory", "guess"), everyMs: 4000 },
  { host: "api.example.com", headers: { authorization: `Bearer ${token}` }, everyMs: 200 },
  { host: "upload.example.com", bodyBytes: 4096, everyMs: 2500 },
  { host: "office.example.com", everyMs: 2000 },
];

/** Runs all clients until the end. Failures are the purpose of this traffic, so no response is checked. */
export async function runTroubles(target: Target): Promise<void> {
  const { host, ports, signal } = target;
  const repeat = async (everyMs: number, play: () => void): Promise<void> => {
    while (await pause(around(everyMs), signal)) play();
  };
  await Promise.all([
    ...visits.map((visit) => repeat(visit.everyMs, () => ask(host, 80, visit))),
    repeat(400, () => ask(host, ports.get(80) ?? 0, { host: "edge.example.com", everyMs: 0 })),
    repeat(1000, () => greet(host, "pay.example.com", "TLSv1.3")),
    repeat(2500, () => greet(host, "pay.example.com", "TLSv1.2")),
    repeat(5000, () => greet(host, "unknown.example.com", "TLSv1.3")),
    repeat(500, () => talk(host, ports.get(5432) ?? 0)),
    repeat(3000, () => beSilent(host)),
    repeat(200, () => send(host, ports.get(5300) ?? 0)),
    repeat(1500, () => send(host, ports.get(5301) ?? 0)),
  ]);
}

function ask(address: string, port: number, { host, path = "/", headers = {}, bodyBytes = 0 }: Visit): void {
  const method = bodyBytes > 0 ? "POST" : "GET";
  const sent = request({ host: address, port, path, method, headers: { host, ...headers } }, (response) =>
    response.resume(),
  );
  sent.on("error", () => {});
  sent.end(Buffer.alloc(bodyBytes));
}

/** Opens a connection and sends no request; the proxy closes it at its time limit for heads. */
function beSilent(host: string): void {
  const socket = connect(80, host);
  socket.on("error", () => {});
  socket.resume();
}

/** Makes a TLS handshake and sends one request. */
function greet(host: string, servername: string, version: SecureVersion): void {
  const socket = connectSecurely({
    ...{ host, port: 443, servername, minVersion: version, maxVersion: version },
    // The certificates are generated for the run, and no secret is sent.
    rejectUnauthorized: false,
  });
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.end(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
}

/** Opens a TCP connection and exchanges 8 KiB in each direction. */
function talk(host: string, port: number): void {
  const socket = connect(port, host);
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.end(Buffer.alloc(8192));
}

function send(host: string, port: number): void {
  const socket = createSocket("udp4");
  socket.on("message", () => socket.close());
  socket.on("error", () => socket.close());
  socket.send(Buffer.alloc(256), port, host);
  setTimeout(() => {
    try {
      socket.close();
    } catch {
      // The response has already closed the socket.
    }
  }, 1000);
}
