import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import { HandleTransport } from "./handle-transport.ts";
import type { HandleInternals } from "./internals.ts";
import { SocketOwner } from "./socket-owner.ts";
import type { Transport } from "../transport.ts";

const maxTailBytes = 1_024;

/** Of sockets at both ends: a small write behind one that is not acknowledged would wait 40 ms, and with it the start of the worker. */
export const testSockets = { noDelay: true } as const;

/** One end of a connection of the test: what has happened on it. */
export class TestEnd {
  readonly transport: Transport;
  /** How many bytes were received, and the last of them. */
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

/** What tests of handles have in common: connections to themselves, and waits for what happens on them, all within a limit. */
export class TestBench {
  /** What is being proved. */
  step = "connect";
  readonly closables: { destroy(): unknown }[] = [];
  /** The limit is reached. */
  isOver = false;
  private server: Server | undefined = undefined;
  private look: () => void = () => {};
  private giveUp: (reason: Error) => void = () => {};
  private readonly timer: AwakeTimer;

  constructor(limitMs: number) {
    this.timer = new AwakeTimer(() => {
      this.isOver = true;
      this.giveUp(new Error("nothing happens"));
    }, limitMs);
  }

  /** Something has happened. */
  readonly check = (): void => this.look();

  end(socket: Socket, internals: HandleInternals): TestEnd {
    return new TestEnd(new HandleTransport(new SocketOwner(socket), internals), this.check);
  }

  /** Answers the port of a server on the loopback address. */
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

  /** Waits for a condition, which is looked at whenever something has happened. */
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

  /** One end ends its side, the other still writes, then both close. */
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
    for (const closable of this.closables) closable.destroy();
    this.server?.close();
  }
}

/** Lets everything happen that is due. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Every octet, once. */
export const everyOctet = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));

/** What is written at once, again and again, until something waits. */
export const pieceBytes = 2_097_152;
/** Far more than the buffers of a loopback connection hold. */
export const maxFillBytes = 32 * pieceBytes;
