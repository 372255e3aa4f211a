import type { Socket } from "node:net";
import { getSystemErrorName } from "node:util";
import type { FailedCall, HandleEvents, HandleOwner } from "./handle-owner.ts";
import type { HandleInternals, ServerTlsHandle, StreamHandle, TcpHandle } from "./internals.ts";

/**
 * The owner of an accepted TCP handle that has no socket, and of TLS on it. It ends, resets and closes the connection
 * as Node's sockets do (`Socket` of node:net: half-open, closed once both sides have ended). A handle is closed once,
 * and its reference is dropped before that. Failed system calls and the close are reported after the call that caused
 * them.
 */
export class OwnHandle implements HandleOwner {
  /** The handle; undefined once it is being closed or belongs to a socket. */
  private tcp: TcpHandle | undefined;
  /** The socket to which the handle was passed. */
  private socket: Socket | undefined = undefined;
  private tls: ServerTlsHandle | undefined = undefined;
  hasEnded = false;
  isFinished = false;
  private readonly internals: HandleInternals;
  private events: HandleEvents | undefined = undefined;
  private isEnding = false;
  /** The value of `takenBytes` after the handle was dropped. */
  private lastTakenBytes = 0;
  private readonly whenClosedCalls: (() => void)[] = [];

  constructor(handle: TcpHandle, internals: HandleInternals) {
    this.tcp = handle;
    this.internals = internals;
  }

  get handle(): StreamHandle | undefined {
    return this.tcp === undefined ? undefined : (this.tls ?? this.tcp);
  }

  /** Creates TLS on the handle. TLS is freed after the handle is closed. */
  secure(create: (tcp: TcpHandle) => ServerTlsHandle): ServerTlsHandle | undefined {
    if (this.tcp !== undefined) this.tls = create(this.tcp);
    return this.tls;
  }

  /** Stops reading, and passes the handle to a socket. Returns undefined if the handle is closed. */
  pass(create: (tcp: TcpHandle) => Socket): Socket | undefined {
    const tcp = this.forget();
    if (tcp === undefined) return undefined;
    tcp.readStop();
    tcp.reading = false;
    this.socket = create(tcp).once("close", this.onClosed);
    return this.socket;
  }

  get takenBytes(): number {
    const { tcp } = this;
    return tcp === undefined ? this.lastTakenBytes : tcp.bytesWritten - tcp.writeQueueSize;
  }

  get isWritable(): boolean {
    return this.tcp !== undefined && !this.isEnding;
  }

  get isClosed(): boolean {
    return this.tcp === undefined;
  }

  watch(events: HandleEvents): void {
    this.events = events;
  }

  takeRead(): undefined {
    return undefined;
  }

  peerHasEnded(): void {
    if (this.tcp === undefined || this.hasEnded) return;
    this.hasEnded = true;
    this.events?.peerEnded();
    if (this.isFinished) this.destroy();
  }

  end(): void {
    const { tcp, tls } = this;
    if (tcp === undefined || this.isEnding) return;
    this.isEnding = true;
    // Both sides have ended, and closing the handle sends our end as well, except for that of TLS.
    if (this.hasEnded && tls === undefined) return this.finish();
    const request = this.internals.createShutdown();
    request.oncomplete = (status) => {
      if (status < 0) this.destroy({ call: "shutdown", status });
      else this.finish();
    };
    const status = (tls ?? tcp).shutdown(request);
    if (status === doneAtOnce || status === notConnected) this.finish();
    else if (status < 0) this.destroy({ call: "shutdown", status });
  }

  destroy(error?: FailedCall): void {
    this.socket?.destroy();
    const handle = this.forget();
    if (handle === undefined) return;
    if (error !== undefined) {
      const code = getSystemErrorName(error.status);
      process.nextTick(tellFailure, this, code);
    }
    handle.close(this.onClosed);
  }

  /** The runtime refuses to reset a connection whose end is on its way. */
  reset(): void {
    // A TLS connection is closed instead, as in `resetSocket`.
    if (this.tls !== undefined || (this.isEnding && !this.isFinished)) return this.destroy();
    const handle = this.forget();
    if (handle === undefined) return;
    if (handle.reset(this.onClosed) !== 0) handle.close(this.onClosed);
  }

  whenClosed(call: () => void): void {
    this.whenClosedCalls.push(call);
  }

  /** Reports a TLS error, whose alert is on its way, and closes the connection. */
  fail(code: string | undefined): void {
    if (this.tcp === undefined) return;
    const { events } = this;
    this.destroy();
    events?.failed(code);
  }

  tellFailure(code: string): void {
    this.events?.failed(code);
  }

  private finish(): void {
    this.isFinished = true;
    if (this.hasEnded) this.destroy();
  }

  private forget(): TcpHandle | undefined {
    const { tcp, tls } = this;
    if (tcp === undefined) return undefined;
    this.lastTakenBytes = this.takenBytes;
    this.tcp = undefined;
    tcp.onread = nothingRead;
    if (tls !== undefined) tls.onread = nothingRead;
    return tcp;
  }

  private readonly onClosed = (): void => {
    const { events, tls } = this;
    this.events = undefined;
    this.tls = undefined;
    tls?.destroySSL();
    events?.closed();
    for (const call of this.whenClosedCalls) call();
  };
}

/** The result of `shutdown` if it is already complete. */
const doneAtOnce = 1;
/** The libuv error ENOTCONN. */
const notConnected = -107;

const nothingRead = (): undefined => undefined;
const tellFailure = (owner: OwnHandle, code: string): void => owner.tellFailure(code);
