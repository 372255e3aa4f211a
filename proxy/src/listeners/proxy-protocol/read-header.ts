import type { Socket } from "node:net";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import type { Peer } from "../peer.ts";
import { parseProxyHeader } from "./header.ts";

/** The reason why a connection was closed, a value of the `limit` label of `svc_proxy_limits_reached_total`. */
export type ProxyHeaderRefusal =
  /** The peer is not trusted to send headers. */
  | "proxy-protocol-peer"
  /** The connection began with other data, or with a malformed header. */
  | "proxy-protocol-header"
  | "proxy-protocol-timeout";

export type ProxyHeaderEvents = {
  /** The header was read, and the bytes after it were put back. `source` is undefined if the header names none. */
  onHeader(source: Peer | undefined): void;
  /** The connection is being closed. */
  onRefused(reason: ProxyHeaderRefusal): void;
};

/** Reads the PROXY protocol header of a new connection, before anything else reads from it. */
export function readProxyHeader(socket: Socket, timeoutMs: number, events: ProxyHeaderEvents): void {
  let bytes: Buffer = Buffer.alloc(0);
  const stop = (): void => {
    timer.clear();
    socket.off("readable", onReadable);
    socket.off("end", onEnd);
    socket.off("close", stop);
  };
  const refuse = (reason: ProxyHeaderRefusal): void => {
    stop();
    events.onRefused(reason);
    socket.destroy();
  };
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const header = parseProxyHeader(bytes);
    if (header.kind === "incomplete") return;
    if (header.kind === "invalid") return refuse("proxy-protocol-header");
    stop();
    if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
    events.onHeader(header.source);
  };
  const onEnd = (): void => {
    // Health checks connect and close, which is not an error.
    if (bytes.length > 0) return refuse("proxy-protocol-header");
    socket.destroy();
  };
  const timer = new AwakeTimer(() => refuse("proxy-protocol-timeout"), timeoutMs);
  socket.on("readable", onReadable);
  socket.on("end", onEnd);
  socket.on("close", stop);
}
