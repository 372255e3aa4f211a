import type { Server, Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";

/** A write request. The runtime calls it back if the kernel does not accept all bytes immediately. */
export type WriteRequest = {
  oncomplete: ((status: number) => void) | undefined;
  /** The memory that must be kept until then. */
  kept: unknown;
};

/** The parts of the handle under a socket that are used here. Calls return 0 or a negative libuv error. */
export type StreamHandle = {
  /** While this is true, Node's socket assumes that the handle is reading, and does not start or stop it on its own. */
  reading: boolean;
  /** Called after each read, with the outcome in `state`; may return the memory of the next read. */
  onread: () => Uint8Array | undefined;
  readStart(): number;
  readStop(): number;
  /** Sets the memory of the first read; called once per handle. */
  useUserBuffer(memory: Uint8Array): unknown;
  writeLatin1String(request: WriteRequest, text: string): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
  /** `chunks` are texts and bytes, each followed by its encoding (`buffer` for bytes). */
  writev(request: WriteRequest, chunks: readonly (string | Uint8Array)[], areAllBytes: boolean): number;
};

/** A request to send our end. The runtime calls it back when the kernel has accepted it. */
export type ShutdownRequest = { oncomplete: ((status: number) => void) | undefined };

/** An address as `getpeername` and `getsockname` write it. */
export type AddressOut = { address?: string; port?: number };

/** The additional parts of a TCP handle that are used if it has no socket. */
export type TcpHandle = StreamHandle & {
  /** Bytes that were written, and those of them (`writeQueueSize`) that the kernel has not accepted. */
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
  /** Returns 1 if it is already complete. */
  shutdown(request: ShutdownRequest): number;
  /** Calls `closed` in a separate turn. */
  close(closed: () => void): void;
  reset(closed: () => void): number;
  getpeername(out: AddressOut): number;
  getsockname(out: AddressOut): number;
};

/** The handle of a listening socket, whose accepted connections libuv passes to `onconnection`. */
export type ListeningHandle = {
  onconnection: (this: ListeningHandle, status: number, client: TcpHandle | undefined) => void;
  /** Accepted connections inherit both (Linux). */
  setNoDelay(on: boolean): number;
  setKeepAlive(on: boolean, delaySeconds: number): number;
};

/** The handle under a TLS socket, and that of the TCP connection below it. */
export type TlsHandle = StreamHandle & {
  readonly _parent: {
    /** Encrypted bytes that were written, and those of them (`writeQueueSize`) that the kernel has not accepted. */
    readonly bytesWritten: number;
    readonly writeQueueSize: number;
  };
};

/** A TLS handle on an accepted TCP handle, as created by `CreateServerTls`, before and after its handshake. */
export type ServerTlsHandle = StreamHandle & {
  _parent: TcpHandle;
  onhandshakestart: () => void;
  /** Called when the handshake is complete, and again after later messages such as tickets. */
  onhandshakedone: () => void;
  onerror: (error: NodeJS.ErrnoException) => void;
  /** Accepts encrypted bytes that were read before. */
  receive(bytes: Uint8Array): void;
  /** Sets the protocols, in the encoding of RFC 7301 3.1. */
  setALPNProtocols(protocols: Uint8Array): void;
  getALPNNegotiatedProtocol(): string | false;
  getProtocol(): string;
  shutdown(request: ShutdownRequest): number;
  /** Frees the memory of OpenSSL; called once the TCP handle is closed. */
  destroySSL(): void;
};

/** Creates a TLS handle on the handle of an accepted connection, and continues to read from it. */
export type CreateServerTls = (tcp: TcpHandle, context: SecureContext) => ServerTlsHandle;

/** The parts of the runtime that are not public. `proveHandles` tests them before they are used. */
export type HandleInternals = {
  readonly createWrite: () => WriteRequest;
  readonly createShutdown: () => ShutdownRequest;
  /**
   * The request of a write that the kernel accepted immediately. The runtime keeps no reference, so it can be reused.
   */
  spare: WriteRequest | undefined;
  /** The outcome of the last read or write, at the indexes below. */
  readonly state: Int32Array;
  /** Index of the number of bytes of a read, or its negative error. */
  readonly readAt: number;
  /** Index of a value that is 1 if the last write waits for the kernel. */
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
 * Finds the parts by their names; the error names the missing one. `process.binding` has a documentation-only
 * deprecation (DEP0111), can be forbidden (`--permission`), and might be removed; the parts are then missing.
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

/** Finds the function that creates TLS on a handle; the error names the missing part. */
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
    // The TCP handle is already reading, and continues for TLS.
    tls.reading = true;
    return tls;
  });
}

/** Returns the handle of a socket; undefined if the socket is closed. */
export const handleOf = (socket: Socket): StreamHandle | undefined =>
  (socket as unknown as { readonly _handle?: StreamHandle | null })._handle ?? undefined;

export const isTlsHandle = (handle: StreamHandle): handle is TlsHandle => "_parent" in handle;

/** Returns the name of a part that a handle lacks; undefined if it lacks none. */
export function lackOf(handle: StreamHandle | undefined): string | undefined {
  if (handle === undefined) return "socket._handle";
  if (typeof handle.reading !== "boolean") return "socket._handle.reading";
  if (typeof handle.onread !== "function") return "socket._handle.onread";
  const lack = handleMethods.find((name) => typeof handle[name] !== "function");
  return lack === undefined ? undefined : `socket._handle.${lack}`;
}

const tcpMethods = ["shutdown", "close", "reset", "getpeername", "getsockname"] as const;

/** Returns the name of an additional part that a TCP handle without a socket lacks; undefined if it lacks none. */
export function lackOfTcp(handle: TcpHandle): string | undefined {
  if (typeof handle.bytesWritten !== "number") return "bytesWritten";
  if (typeof handle.writeQueueSize !== "number") return "writeQueueSize";
  return tcpMethods.find((name) => typeof handle[name] !== "function");
}

/** Returns the handle of a listening server; undefined if it has none that accepts connections. */
export function listeningHandleOf(server: Server): ListeningHandle | undefined {
  const { _handle: handle } = server as unknown as { readonly _handle?: Partial<ListeningHandle> | null };
  if (typeof handle?.onconnection !== "function") return undefined;
  if (typeof handle.setNoDelay !== "function" || typeof handle.setKeepAlive !== "function") return undefined;
  return handle as ListeningHandle;
}

/**
 * Returns the name of a part that a TLS handle lacks; undefined if none. It must be on a TCP handle of the prototype.
 */
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

/** Returns the contents of a binding of the runtime; the error explains why it is not available. */
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
