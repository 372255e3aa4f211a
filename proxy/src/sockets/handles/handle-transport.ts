import { ReadBuffer } from "../read-buffer.ts";
import type { Transport, TransportReceiver } from "../transport.ts";
import type { HandleEvents, HandleOwner } from "./handle-owner.ts";
import type { HandleWrites, WritesOwner } from "./handle-writes.ts";
import { type HandleInternals, isTlsHandle, type StreamHandle } from "./internals.ts";
import { TcpWrites } from "./tcp-writes.ts";
import { TlsWrites } from "./tls-writes.ts";

/** The status by which libuv reports that the peer has ended its side. */
const endOfFile = -4095;

/** The read buffer of all connections that always read into shared memory; it has no state of a connection. */
const sharedOnly = new ReadBuffer();

/**
 * A connection, plain or TLS, that is read and written through its handle without Node's streams. The owner of the
 * handle closes, resets and half-closes the connection, and reports its end.
 */
export class HandleTransport implements Transport, WritesOwner, HandleEvents {
  readonly takesViews = true;
  readonly reportsLate = false;
  private readonly owner: HandleOwner;
  private readonly internals: HandleInternals;
  private readonly source: ReadBuffer;
  /** The handle; undefined once this end closes the connection or it has been closed. */
  private handle: StreamHandle | undefined;
  private receiver: TransportReceiver | undefined = undefined;
  /** The memory of the next read. The runtime holds its address, so this reference keeps it from being collected. */
  private memory: Buffer;
  /**
   * Bytes that the owner had read before, or that arrived while paused, since TLS continues with the records it has.
   */
  private early: Buffer | undefined = undefined;
  /** Whether the peer ended its side after the early bytes. */
  private endedEarly = false;
  private isPaused = false;
  /** Whether the handle is reading. A second request to read would fail. */
  private isReading = false;
  private isEnded = false;
  /**
   * The writes to the handle; undefined once the connection is closed, so that remaining references to the transport
   * keep no memory of TLS.
   */
  private writes: HandleWrites | undefined;
  private isAsked = false;

  /** Nothing else may read the handle. `memory` is the read buffer, by default the shared memory. */
  constructor(owner: HandleOwner, internals: HandleInternals, memory = sharedOnly) {
    this.owner = owner;
    this.internals = internals;
    this.handle = owner.handle;
    this.source = memory;
    this.memory = memory.next();
    this.writes = writesOf(this.handle, internals, this);
  }

  get waitingBytes(): number {
    return this.writes?.waitingBytes ?? 0;
  }

  get takenBytes(): number {
    return this.owner.takenBytes;
  }

  get holdsBack(): boolean {
    return this.writes?.holdsBack === true;
  }

  get hasUnread(): boolean {
    return this.early !== undefined;
  }

  get ended(): boolean {
    return this.early === undefined && this.owner.hasEnded;
  }

  get writable(): boolean {
    return this.handle !== undefined && !this.isEnded && this.owner.isWritable;
  }

  get finished(): boolean {
    return this.owner.isFinished;
  }

  start(receiver: TransportReceiver): void {
    const { owner, handle } = this;
    const isFirst = this.receiver === undefined;
    this.receiver = receiver;
    if (!isFirst) return this.resume();
    owner.watch(this);
    if (handle === undefined) return;
    // From now on, data that the socket reads because of a call that is under way arrives here.
    handle.onread = this.onRead;
    handle.useUserBuffer(this.memory);
    this.early = owner.takeRead();
    // A handle that is reading for its socket continues for this transport, because stopping it costs system calls.
    this.isReading = handle.reading;
    handle.reading = true;
    if (this.early === undefined) this.readOn();
    else process.nextTick(deliverEarly, this);
  }

  writeText(text: string): void {
    if (this.mayWrite) this.writes?.writeText(text);
  }

  writeBytes(before: string, bytes: Buffer, after: string): void {
    if (this.mayWrite) this.writes?.writeBytes(before, bytes, after);
  }

  lendBytes(bytes: Buffer, done: () => void): void {
    if (this.mayWrite) this.writes?.lendBytes(bytes, done);
  }

  whenTaken(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    if (this.waitingBytes === 0) process.nextTick(tellTaken, this);
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    if (this.isReading) this.handle?.readStop();
    this.isReading = false;
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.early === undefined) this.readOn();
    else process.nextTick(deliverEarly, this);
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    // Deferred until no write waits, because the runtime refuses to reset a connection whose end is on its way.
    if (this.writes?.isBusy !== true) this.owner.end();
  }

  destroy(): void {
    this.handle = undefined;
    this.owner.destroy();
  }

  reset(): void {
    this.handle = undefined;
    this.owner.reset();
  }

  whenClosed(call: () => void): void {
    this.owner.whenClosed(call);
  }

  /** Passes on the early bytes, then begins to read. */
  deliverEarly(): void {
    const { early } = this;
    if (early === undefined || this.isPaused || this.handle === undefined) return;
    this.early = undefined;
    this.receiver?.receive({ owned: true, bytes: early });
    if (!this.endedEarly) this.readOn();
    else if (this.owner.hasEnded) this.receiver?.ended();
    else this.owner.peerHasEnded();
  }

  tellTaken(): void {
    if (!this.isAsked || this.waitingBytes > 0 || this.handle === undefined) return;
    this.isAsked = false;
    this.receiver?.taken();
  }

  onWritten(): void {
    if (this.isEnded) this.owner.end();
    this.tellTaken();
  }

  onWriteFailed(status: number): void {
    this.check(status, "write");
  }

  peerEnded(): void {
    if (this.early === undefined) this.receiver?.ended();
    else this.endedEarly = true;
  }

  failed(code: string | undefined): void {
    this.receiver?.failed?.(code);
  }

  closed(): void {
    this.handle = undefined;
    this.writes = undefined;
    this.receiver?.closed();
  }

  /** Called by the runtime after each read. `source` turns it into a piece that ends where the read ended. */
  private readonly onRead = (): Uint8Array | undefined => {
    const length = this.internals.state[this.internals.readAt] as number;
    if (length > 0) {
      if (this.early !== undefined) this.deliverEarly();
      if (this.isPaused) this.keepEarly(length);
      else this.receiver?.receive(this.source.pieceOf(this.memory, length));
      return this.turnMemory();
    }
    if (length === endOfFile) this.peerHasEnded();
    else if (length < 0) this.check(length, "read");
    return undefined;
  };

  /** Reports the end to the owner after the early bytes: the owner can close the connection, which drops them. */
  private peerHasEnded(): void {
    if (this.early === undefined) this.owner.peerHasEnded();
    else this.endedEarly = true;
  }

  private get mayWrite(): boolean {
    return this.handle !== undefined && !this.isEnded;
  }

  /** Keeps bytes that arrive while paused: at most those of the last read from the kernel. */
  private keepEarly(length: number): void {
    const { early = noBytes, memory } = this;
    this.early = Buffer.concat([early, memory.subarray(0, length)]);
  }

  private readOn(): void {
    const { handle } = this;
    if (handle === undefined || this.isPaused || this.isReading) return;
    this.isReading = true;
    this.check(handle.readStart(), "read");
  }

  /** Returns the memory of the next read if it differs from the current memory. */
  private turnMemory(): Buffer | undefined {
    const next = this.source.next();
    if (next === this.memory) return undefined;
    this.memory = next;
    return next;
  }

  /** Ends the connection if a system call has failed. */
  private check(status: number, call: "read" | "write"): void {
    if (status >= 0 || this.owner.isClosed) return;
    this.handle = undefined;
    this.owner.destroy({ call, status });
  }
}

const noBytes = Buffer.alloc(0);

function writesOf(
  handle: StreamHandle | undefined,
  internals: HandleInternals,
  owner: WritesOwner,
): HandleWrites | undefined {
  if (handle === undefined) return undefined;
  return isTlsHandle(handle)
    ? new TlsWrites(handle, internals, owner)
    : new TcpWrites(handle, internals, owner);
}

const deliverEarly = (transport: HandleTransport): void => transport.deliverEarly();
const tellTaken = (transport: HandleTransport): void => transport.tellTaken();
