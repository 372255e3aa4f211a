import type { Server, Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";

/** A request to write: the runtime calls it back if the system does not take everything at once. */
export type WriteRequest = {
  oncomplete: ((status: number) => void) | undefined;
  /** What has to stay where it is until then. */
  kept: unknown;
};

/** The handle under a socket, as far as it is used. Calls return 0, or a negative error of libuv. */
export type StreamHandle = {
  /** Node's socket does not start or stop reading by itself while it takes the handle for one that reads. */
  reading: boolean;
  /** Called after each read, with the outcome in `state`; may return the memory of the next read. */
  onread: () => Uint8Array | undefined;
  readStart(): number;
  readStop(): number;
  /** Reads into this memory from now on; once per handle. */
  useUserBuffer(memory: Uint8Array): unknown;
  writeLatin1String(request: WriteRequest, text: string): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
  /** `chunks` are texts and bytes, each followed by its encoding (`buffer` for bytes). */
  writev(request: WriteRequest, chunks: readonly (string | Uint8Array)[], areAllBytes: boolean): number;
};

/** A request to send our end: the runtime calls it back when the system has taken it. */
export type ShutdownRequest = { oncomplete: ((status: number) => void) | undefined };

/** An address as `getpeername` and `getsockname` write it. */
export type AddressOut = { address?: string; port?: number };

/** A TCP handle that has no socket, as far as it is used beyond that. */
export type TcpHandle = StreamHandle & {
  /** Bytes that it was given, and those of them that the system has not taken. */
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
  /** 1: there is nothing to wait for. */
  shutdown(request: ShutdownRequest): number;
  /** Calls back in a turn of its own. */
  close(closed: () => void): void;
  reset(closed: () => void): number;
  getpeername(out: AddressOut): number;
  getsockname(out: AddressOut): number;
};

/** The handle of a listening socket: libuv passes what it accepts to `onconnection`. */
export type ListeningHandle = {
  onconnection: (this: ListeningHandle, status: number, client: TcpHandle | undefined) => void;
  /** Accepted connections inherit both (Linux). */
  setNoDelay(on: boolean): number;
  setKeepAlive(on: boolean, delaySeconds: number): number;
};

/** The handle under a TLS socket, and that of the TCP connection below it. */
export type TlsHandle = StreamHandle & {
  readonly _parent: {
    /** Encrypted bytes that the connection was given, and those of them that the system has not taken. */
    readonly bytesWritten: number;
    readonly writeQueueSize: number;
  };
};

/** A TLS handle on an accepted TCP handle, as `createServerTls` makes it, before and after its handshake. */
export type ServerTlsHandle = StreamHandle & {
  _parent: TcpHandle;
  onhandshakestart: () => void;
  /** Called within the handshake, and again after messages behind it, such as tickets. */
  onhandshakedone: () => void;
  onerror: (error: NodeJS.ErrnoException) => void;
  /** Takes encrypted bytes that were read before. */
  receive(bytes: Uint8Array): void;
  /** In the form of RFC 7301 3.1. */
  setALPNProtocols(protocols: Uint8Array): void;
  getALPNNegotiatedProtocol(): string | false;
  getProtocol(): string;
  shutdown(request: ShutdownRequest): number;
  /** Frees what OpenSSL holds; once the TCP handle is closed. */
  destroySSL(): void;
};

/** Puts TLS on the handle of an accepted connection, from which it reads on; `context` is that of a `SecureContext`. */
export type CreateServerTls = (tcp: TcpHandle, context: SecureContext) => ServerTlsHandle;

/** The parts of the runtime that are not public: proved by `proveHandles` before anything uses them. */
export type HandleInternals = {
  readonly createWrite: () => WriteRequest;
  readonly createShutdown: () => ShutdownRequest;
  /** The request of a write that the system took at once: the runtime keeps nothing of it, so the next write has it. */
  spare: WriteRequest | undefined;
  /** What the last read or write came to, by the indexes below. */
  readonly state: Int32Array;
  /** Bytes of a read, or a negative error. */
  readonly readAt: number;
  /** 1 when a write waits for the system. */
  readonly isAsyncAt: number;
};

const handleMethods = [
  "readStart",
  "readStop",
  "useUserBuffer",
  "writeLatin1String",
  "writeBuffer",
  "writev",
] as const;

/**
 * Finds the parts by their names; the error names what is missing. `process.binding` is deprecated in documentation (DEP0111),
 * may be forbidden (`--permission`), and may be removed: then there are no parts.
 */
export function findInternals(
  binding: (name: string) => unknown = processBinding,
): Result<HandleInternals, string> {
  const read = readBinding("stream_wrap", binding);
  if (!read.ok) return read;
  const { WriteWrap: Write, ShutdownWrap: Shutdown, streamBaseState: state } = read.value;
  const { kReadBytesOrError, kLastWriteWasAsync } = read.value;
  if (typeof Write !== "function") return missing("WriteWrap");
  if (typeof Shutdown !== "function") return missing("ShutdownWrap");
  if (!(state instanceof Int32Array)) return missing("streamBaseState");
  const readAt = indexIn(state, kReadBytesOrError);
  if (readAt === undefined) return missing("kReadBytesOrError");
  const isAsyncAt = indexIn(state, kLastWriteWasAsync);
  if (isAsyncAt === undefined || isAsyncAt === readAt) return missing("kLastWriteWasAsync");
  const Constructor = Write as new () => WriteRequest;
  const createWrite = (): WriteRequest => {
    const request = new Constructor();
    request.oncomplete = undefined;
    request.kept = undefined;
    return request;
  };
  const ShutdownConstructor = Shutdown as new () => ShutdownRequest;
  const createShutdown = (): ShutdownRequest => new ShutdownConstructor();
  return ok({ createWrite, createShutdown, spare: undefined, state, readAt, isAsyncAt });
}

const serverTlsMethods = [
  "receive",
  "setALPNProtocols",
  "getALPNNegotiatedProtocol",
  "getProtocol",
  "shutdown",
  "destroySSL",
] as const;

/** Finds what puts TLS on a handle; the error names what is missing. */
export function findServerTls(
  binding: (name: string) => unknown = processBinding,
): Result<CreateServerTls, string> {
  const read = readBinding("tls_wrap", binding);
  if (!read.ok) return read;
  const { wrap, TLSWrap: Wrap } = read.value;
  if (typeof wrap !== "function") return missing("wrap of tls_wrap");
  if (typeof Wrap !== "function") return missing("TLSWrap");
  const prototype = Wrap.prototype as Readonly<Record<string, unknown>>;
  const lack = serverTlsMethods.find((name) => typeof prototype[name] !== "function");
  if (lack !== undefined) return missing(`TLSWrap.${lack}`);
  const wrapServer = wrap as (...args: readonly unknown[]) => ServerTlsHandle;
  return ok((tcp, { context }) => {
    const tls = wrapServer(tcp, context, true, false);
    tls._parent = tcp;
    // The TCP handle reads already, and goes on for TLS.
    tls.reading = true;
    return tls;
  });
}

/** The handle of a socket; undefined when it is closed. */
export const handleOf = (socket: Socket): StreamHandle | undefined =>
  (socket as unknown as { readonly _handle?: StreamHandle | null })._handle ?? undefined;

export const isTlsHandle = (handle: StreamHandle): handle is TlsHandle => "_parent" in handle;

/** Names what a handle lacks; undefined: nothing. */
export function lackOf(handle: StreamHandle | undefined): string | undefined {
  if (handle === undefined) return "socket._handle";
  if (typeof handle.reading !== "boolean") return "socket._handle.reading";
  if (typeof handle.onread !== "function") return "socket._handle.onread";
  const lack = handleMethods.find((name) => typeof handle[name] !== "function");
  return lack === undefined ? undefined : `socket._handle.${lack}`;
}

const tcpMethods = ["shutdown", "close", "reset", "getpeername", "getsockname"] as const;

/** The same of a TCP handle that has no socket. */
export function lackOfTcp(handle: TcpHandle): string | undefined {
  if (typeof handle.bytesWritten !== "number") return "bytesWritten";
  if (typeof handle.writeQueueSize !== "number") return "writeQueueSize";
  return tcpMethods.find((name) => typeof handle[name] !== "function");
}

/** The handle of a server that listens; undefined where it has none that accepts. */
export function listeningHandleOf(server: Server): ListeningHandle | undefined {
  const { _handle: handle } = server as unknown as { readonly _handle?: Partial<ListeningHandle> | null };
  if (typeof handle?.onconnection !== "function") return undefined;
  if (typeof handle.setNoDelay !== "function" || typeof handle.setKeepAlive !== "function") return undefined;
  return handle as ListeningHandle;
}

/** The same of a TLS handle, which must be on one of TCP of the given prototype. */
export function lackOfTls(handle: StreamHandle | undefined, tcpPrototype: object): string | undefined {
  if (handle === undefined || !isTlsHandle(handle)) return "socket._handle._parent";
  const { _parent: tcp } = handle;
  if (typeof tcp !== "object" || tcp === null || Object.getPrototypeOf(tcp) !== tcpPrototype)
    return "a TCP handle as socket._handle._parent";
  if (typeof tcp.bytesWritten !== "number") return "socket._handle._parent.bytesWritten";
  return typeof tcp.writeQueueSize === "number" ? undefined : "socket._handle._parent.writeQueueSize";
}

const missing = (what: string): Result<never, string> => fail(what);

const indexIn = (state: Int32Array, index: unknown): number | undefined =>
  Number.isInteger(index) && (index as number) >= 0 && (index as number) < state.length
    ? (index as number)
    : undefined;

/** What a binding of the runtime holds; the error says why it cannot be had. */
function readBinding(
  name: string,
  binding: (name: string) => unknown,
): Result<Readonly<Record<string, unknown>>, string> {
  try {
    return ok((binding(name) as Readonly<Record<string, unknown>> | null | undefined) ?? {});
  } catch (error) {
    return missing(`process.binding("${name}"): ${(error as Error).message}`);
  }
}

const processBinding = (name: string): unknown =>
  (process as unknown as { binding(name: string): unknown }).binding(name);
