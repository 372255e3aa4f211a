import { getSystemErrorName } from "node:util";
import type { FailedCall, HandleEvents, HandleOwner } from "./handle-owner.ts";
import type { HandleInternals, TcpHandle } from "./internals.ts";

/**
 * The owner of a TCP handle that has no socket, as libuv has accepted it: it sends the end of its connection, resets and closes it as
 * Node's sockets do (`Socket` of node:net: half-open, closed once both sides have ended). A handle is closed once, and forgotten before
 * that; everything that is reported comes a turn later.
 */
export class OwnHandle implements HandleOwner {
  /** Undefined once it is being closed. */
  handle: TcpHandle | undefined;
  hasEnded = false;
  isFinished = false;
  private readonly internals: HandleInternals;
  private events: HandleEvents | undefined = undefined;
  private isEnding = false;
  /** Of a closed connection. */
  private lastTakenBytes = 0;
  private readonly whenClosedCalls: (() => void)[] = [];

  constructor(handle: TcpHandle, internals: HandleInternals) {
    this.handle = handle;
    this.internals = internals;
  }

  get takenBytes(): number {
    const { handle } = this;
    return handle === undefined ? this.lastTakenBytes : handle.bytesWritten - handle.writeQueueSize;
  }

  get isWritable(): boolean {
    return this.handle !== undefined && !this.isEnding;
  }

  get isClosed(): boolean {
    return this.handle === undefined;
  }

  watch(events: HandleEvents): void {
    this.events = events;
  }

  takeRead(): undefined {
    return undefined;
  }

  peerHasEnded(): void {
    if (this.handle === undefined || this.hasEnded) return;
    this.hasEnded = true;
    this.events?.peerEnded();
    if (this.isFinished) this.destroy();
  }

  end(): void {
    const { handle } = this;
    if (handle === undefined || this.isEnding) return;
    this.isEnding = true;
    // Nothing is left to say or to hear: closing it sends the end as well.
    if (this.hasEnded) return this.finish();
    const request = this.internals.createShutdown();
    request.oncomplete = (status) => {
      if (status < 0) this.destroy({ call: "shutdown", status });
      else this.finish();
    };
    const status = handle.shutdown(request);
    if (status === doneAtOnce || status === notConnected) this.finish();
    else if (status < 0) this.destroy({ call: "shutdown", status });
  }

  destroy(error?: FailedCall): void {
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
    if (this.isEnding && !this.isFinished) return this.destroy();
    const handle = this.forget();
    if (handle === undefined) return;
    if (handle.reset(this.onClosed) !== 0) handle.close(this.onClosed);
  }

  whenClosed(call: () => void): void {
    this.whenClosedCalls.push(call);
  }

  tellFailure(code: string): void {
    this.events?.failed(code);
  }

  private finish(): void {
    this.isFinished = true;
    if (this.hasEnded) this.destroy();
  }

  private forget(): TcpHandle | undefined {
    const { handle } = this;
    if (handle === undefined) return undefined;
    this.lastTakenBytes = this.takenBytes;
    this.handle = undefined;
    handle.onread = nothingRead;
    return handle;
  }

  private readonly onClosed = (): void => {
    const { events } = this;
    this.events = undefined;
    events?.closed();
    for (const call of this.whenClosedCalls) call();
  };
}

/** What `shutdown` returns where it has nothing to wait for. */
const doneAtOnce = 1;
/** ENOTCONN of libuv. */
const notConnected = -107;

const nothingRead = (): undefined => undefined;
const tellFailure = (owner: OwnHandle, code: string): void => owner.tellFailure(code);
