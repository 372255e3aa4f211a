import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { awake } from "../../timing/awake-clock.ts";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import { HandleTransport } from "./handle-transport.ts";
import type { HandleInternals } from "./internals.ts";
import { SocketOwner } from "./socket-owner.ts";
import type { Transport } from "../transport.ts";

const maxTailBytes = 1_024;

/**
 * Options of the sockets at both ends. Without them, a small write behind an unacknowledged one would wait 40 ms and
 * delay the start of the worker.
 */
export const testSockets = { noDelay: true } as const;

/** One end of a test connection, and a record of its events. */
export class TestEnd {
  readonly transport: Transport;
  /** The number of bytes received, and the last of them (`tail`). */
  receivedBytes = 0;
  tail = Buffer.alloc(0);
  hasEnded = false;
  isTaken = false;
  isClosed = false;
  code: string | undefined = undefined;

  constructor(transport: Transport, changed: () => void) {
    this.transport = transport;
    this.transport.start({
      receive: ({ bytes }) => {
        this.receivedBytes += bytes.length;
        this.tail = Buffer.concat([this.tail, bytes]).subarray(-maxTailBytes);
        changed();
      },
      ended: () => {
        this.hasEnded = true;
        changed();
      },
      taken: () => {
        this.isTaken = true;
        changed();
      },
      failed: (code) => {
        this.code = code;
        changed();
      },
      closed: () => {
        this.isClosed = true;
        changed();
      },
    });
  }
}

export type Pair = { readonly own: TestEnd; readonly peer: TestEnd };

/**
 * Common parts of the self-tests: loopback connections, and waits for events on them, all within one time limit. Pauses
 * of the process do not count.
 */
export class TestBench {
  /** The behaviour that is being tested, for error texts. */
  step = "connect";
  readonly closables: { destroy(): unknown }[] = [];
  /** Whether the time limit has been reached. */
  isOver = false;
  private server: Server | undefined = undefined;
  private look: () => void = () => {};
  private giveUp: (reason: Error) => void = () => {};
  private readonly endWatch = awake.watch();
  private readonly timer: AwakeTimer;

  constructor(limitMs: number) {
    this.timer = new AwakeTimer(() => {
      this.isOver = true;
      this.giveUp(new Error("nothing happens"));
    }, limitMs);
  }

  /** Checks the current condition again after an event. */
  readonly check = (): void => this.look();

  end(socket: Socket, internals: HandleInternals): TestEnd {
    return new TestEnd(new HandleTransport(new SocketOwner(socket), internals), this.check);
  }

  /** Starts a server on the loopback address, and returns its port. */
  listen(onConnection: (socket: Socket) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const server = createServer({ ...testSockets, allowHalfOpen: true }, onConnection);
      this.server = server;
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  }

  /** The server of `listen`. */
  get listening(): Server {
    if (this.server === undefined) throw new Error("no server");
    return this.server;
  }

  /** Waits for a condition, which is checked after every event. */
  until(what: string, isTrue: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.giveUp = ({ message }) => reject(new Error(`${what}: ${message}`));
      this.look = () => {
        if (!isTrue()) return;
        this.look = () => {};
        resolve();
      };
      this.look();
    });
  }

  expect(what: string, isTrue: boolean): void {
    if (!isTrue) throw new Error(`${what} not as expected`);
  }

  /** Proves a half-close: one end ends its side, the other still writes, then both close. */
  async proveHalfClose({ own, peer }: Pair): Promise<void> {
    this.step = "half-close";
    own.transport.end();
    await this.until("end", () => peer.hasEnded);
    this.expect("writable", peer.transport.writable && !own.transport.writable);
    peer.transport.writeText("late");
    peer.transport.end();
    await this.until("end of both sides", () => own.hasEnded && own.isClosed && peer.isClosed);
    this.expect("bytes", own.tail.toString() === "late");
    this.expect("no error", own.code === undefined && peer.code === undefined);
  }

  close(): void {
    this.timer.clear();
    this.endWatch();
    for (const closable of this.closables) closable.destroy();
    this.server?.close();
  }
}

/** Waits for three turns of the event loop, so that all pending events are processed. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Every octet, once. */
export const everyOctet = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));

/** The size of the writes that are repeated until one waits. */
export const pieceBytes = 2_097_152;
/** Far more than the buffers of a loopback connection hold. */
export const maxFillBytes = 32 * pieceBytes;
