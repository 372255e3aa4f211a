/** The cases that are measured. Quote the ratios between subjects of one run; see docs/benchmarks.md. */
import { streamLength } from "./grpc.ts";
import { grpcCalls, h2load } from "./loads/h2load.ts";
import { fixedRate } from "./loads/latency.ts";
import type { Load } from "./loads/load.ts";
import { handshakes, idleConnections, websocketMessages } from "./loads/node-client.ts";
import { wrk } from "./loads/wrk.ts";
import { grpcHost, usual, type Variant } from "./setup.ts";

export type Case = {
  readonly name: string;
  readonly title: string;
  /** The unit that a load counts, reported per second of processor time unless the case has `values`. */
  readonly unit: string;
  readonly load: Load;
  readonly variant: Variant;
  /** Names of measured values that are reported instead of units per second of processor time; lower is better. */
  readonly values?: readonly string[];
  /** Set if one run is enough because the case does not measure time. */
  readonly once?: true;
};

const kib64 = 64 * 1024;
const mib1 = 1024 * 1024;

const connectionClose = wrk({ headers: ["Connection: close"] });

export const cases: readonly Case[] = [
  plain("http1", "HTTP/1.1, small responses", "requests", wrk()),
  plain(
    "http1-tls",
    "HTTP/1.1 over TLS, small responses",
    "requests",
    h2load({ http1: true, secure: true, connections: 64 }),
  ),
  plain("http2", "HTTP/2, 8 connections of 16, small responses", "requests", h2load()),
  plain("http2-tls", "HTTP/2 over TLS, small responses", "requests", h2load({ secure: true })),
  plain("grpc-unary", "gRPC, one message each way", "calls", grpcCalls("Unary", 1)),
  plain(
    "grpc-stream",
    `gRPC, ${streamLength} messages of a server`,
    "messages",
    grpcCalls("Stream", streamLength),
  ),
  plain("http2-http2", "HTTP/2 to a backend of HTTP/2", "requests", h2load({ host: grpcHost, path: "/" })),
  plain("websocket", "WebSocket, messages of 64 bytes to and fro", "messages", websocketMessages),
  plain("down-64k", "HTTP/1.1, 64 KiB down", "requests", wrk({ path: `/bytes/${kib64}` })),
  plain("down-1m", "HTTP/1.1, 1 MiB down", "requests", wrk({ path: `/bytes/${mib1}`, connections: 16 })),
  plain(
    "tls-down-64k",
    "HTTP/1.1 over TLS, 64 KiB down",
    "requests",
    h2load({ http1: true, secure: true, connections: 64, path: `/bytes/${kib64}` }),
  ),
  plain("up-16k", "HTTP/1.1, 16 KiB up", "requests", wrk({ uploadBytes: 16 * 1024 })),
  plain("up-64k", "HTTP/1.1, 64 KiB up", "requests", wrk({ uploadBytes: kib64 })),
  plain("up-1m", "HTTP/1.1, 1 MiB up", "requests", wrk({ uploadBytes: mib1, connections: 16 })),
  plain("http2-down-64k", "HTTP/2, 64 KiB down", "requests", h2load({ path: `/bytes/${kib64}` })),
  plain("http2-down-1m", "HTTP/2, 1 MiB down", "requests", h2load({ path: `/bytes/${mib1}`, streams: 4 })),
  plain(
    "http2-tls-down-64k",
    "HTTP/2 over TLS, 64 KiB down",
    "requests",
    h2load({ secure: true, path: `/bytes/${kib64}` }),
  ),
  plain("http2-up-64k", "HTTP/2, 64 KiB up", "requests", h2load({ body: Buffer.alloc(kib64, "x") })),
  plain("connections", "HTTP/1.1, a connection for each request", "requests", connectionClose),
  plain("handshakes", "full TLS handshakes, ECDSA on P-256", "handshakes", handshakes("full-handshakes")),
  plain("resumed", "resumed TLS handshakes", "handshakes", handshakes("resumed-handshakes")),
  {
    ...plain("idle", "10,000 idle connections", "connections", idleConnections(false, 10_000)),
    values: ["KiB each"],
    once: true,
  },
  {
    ...plain("idle-tls", "5,000 idle TLS connections", "connections", idleConnections(true, 5000)),
    values: ["KiB each"],
    once: true,
  },
  {
    ...plain("latency", "5,000 requests/s, µs from when each was due", "requests", fixedRate(5000)),
    values: ["p50", "p99", "p99.9"],
  },
  {
    ...plain("routes-1", "HTTP/1.1, one route", "requests", wrk()),
    variant: { ...usual, hosts: 1, paths: 1 },
  },
  {
    ...plain("routes-10000", "HTTP/1.1, 10,000 routes", "requests", wrk()),
    variant: { ...usual, hosts: 1000 },
  },
  {
    ...plain("features", "HTTP/1.1, rate limit, JWT, header changes", "requests", wrk({ withToken: true })),
    variant: { ...usual, features: true },
  },
  {
    ...plain("log-off", "HTTP/1.1, without an access log", "requests", wrk()),
    variant: { ...usual, accessLog: false },
  },
  {
    ...plain("tracing", "HTTP/1.1, every request traced", "requests", wrk()),
    variant: { ...usual, tracing: true },
  },
  { ...plain("workers-2", "HTTP/1.1, two workers", "requests", wrk()), variant: { ...usual, workers: 2 } },
];

function plain(name: string, title: string, unit: string, load: Load): Case {
  return { name, title, unit, load, variant: usual };
}
