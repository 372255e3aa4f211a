import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import { HandleTransport } from "./handle-transport.ts";
import { type HandleInternals, handleOf, lackOf } from "./internals.ts";

/** For all of the test; it takes some milliseconds. */
const maxTestMs = 5_000;
/** Pieces that are written until one waits: together far more than the buffers of a loopback connection hold. */
const pieceBytes = 2_097_152;
const maxPieces = 32;
const maxTailBytes = 1_024;
const everyOctet = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));

/** What the handles of this runtime are: those of accepted and of opened connections have one prototype. */
type ProvedHandles = { readonly prototype: object };

/**
 * Proves on connections to itself that the handles do what the transport needs: reads, writes that the system takes at once
 * and later, pauses, half-closes, resets and the codes of errors. The error names the first thing that is not so.
 */
export async function proveHandles(
  internals: HandleInternals,
  limitMs = maxTestMs,
): Promise<Result<ProvedHandles, string>> {
  const bench = new TestBench(internals, limitMs);
  try {
    return await bench.prove();
  } catch (error) {
    return fail(`self-test of the TCP handles, ${bench.step}: ${(error as Error).message}`);
  } finally {
    bench.close();
  }
}

/** One end of a connection of the test: what has happened on it. */
class TestEnd {
  readonly transport: HandleTransport;
  readonly socket: Socket;
  /** How many bytes were received, and the last of them. */
  receivedBytes = 0;
  tail = Buffer.alloc(0);
  hasEnded = false;
  isTaken = false;
  isClosed = false;
  code: string | undefined = undefined;

  constructor(socket: Socket, internals: HandleInternals, changed: () => void) {
    this.socket = socket;
    this.transport = new HandleTransport(socket, internals);
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

type Pair = { readonly own: TestEnd; readonly peer: TestEnd };

class TestBench {
  /** What is being proved. */
  step = "connect";
  private readonly internals: HandleInternals;
  private readonly sockets: Socket[] = [];
  private server: Server | undefined = undefined;
  private check: () => void = () => {};
  private giveUp: (reason: Error) => void = () => {};
  private readonly timer: AwakeTimer;

  constructor(internals: HandleInternals, limitMs: number) {
    this.internals = internals;
    this.timer = new AwakeTimer(() => this.giveUp(new Error("nothing happens")), limitMs);
  }

  async prove(): Promise<Result<ProvedHandles, string>> {
    const accepted: Socket[] = [];
    const port = await this.listen((socket) => {
      accepted.push(socket);
      this.check();
    });
    const pair = async (internals: HandleInternals): Promise<Pair | string> => {
      const own = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
      this.sockets.push(own);
      own.on("error", () => {});
      own.on("connect", () => this.check());
      await this.until("connect", () => accepted.length > 0 && !own.connecting);
      const peer = accepted.pop() as Socket;
      this.sockets.push(peer);
      for (const socket of [own, peer]) {
        const lack = lackOf(handleOf(socket));
        if (lack !== undefined) return lack;
      }
      const end = (socket: Socket): TestEnd => new TestEnd(socket, internals, () => this.check());
      return { own: end(own), peer: end(peer) };
    };
    const first = await pair(withoutReuse(this.internals));
    if (typeof first === "string") return fail(first);
    const prototype = Object.getPrototypeOf(handleOf(first.own.socket)) as object;
    if (Object.getPrototypeOf(handleOf(first.peer.socket)) !== prototype)
      return fail("one prototype of all TCP handles");
    await this.proveBytes(first);
    await this.proveHalfClose(first);
    const second = await pair(this.internals);
    if (typeof second === "string") return fail(second);
    await this.proveReuse(second);
    await this.proveReset(second);
    return ok({ prototype });
  }

  close(): void {
    this.timer.clear();
    for (const socket of this.sockets) socket.destroy();
    this.server?.close();
  }

  private async proveBytes({ own, peer }: Pair): Promise<void> {
    this.step = "writes that are taken at once";
    own.transport.writeText(everyOctet.toString("latin1"));
    own.transport.writeBytes("<", everyOctet, ">");
    own.transport.writeBytes("", everyOctet, "");
    this.expect("waiting bytes", own.transport.waitingBytes === 0);
    const [open, close] = [Buffer.from("<"), Buffer.from(">")];
    const expected = Buffer.concat([everyOctet, open, everyOctet, close, everyOctet]);
    await this.until("reads", () => peer.receivedBytes >= expected.length);
    this.expect("bytes", peer.tail.equals(expected));
    this.step = "writes that wait";
    peer.transport.pause();
    const text = everyOctet.toString("latin1");
    const piece = Buffer.alloc(pieceBytes, "much");
    let pieces = 0;
    while (own.transport.waitingBytes === 0 && pieces < maxPieces) {
      own.transport.writeBytes("", piece, "");
      pieces++;
    }
    this.expect("waiting bytes", own.transport.waitingBytes === pieceBytes);
    own.transport.writeText(text);
    const total = expected.length + pieces * pieceBytes + text.length;
    // The system may take what is left of the piece at any time; that is reported later, and a text behind it may be taken at once.
    const behind = own.transport.waitingBytes - pieceBytes;
    this.expect("bytes behind them", behind === 0 || behind === text.length);
    this.expect("taken bytes", own.transport.takenBytes < total || behind === 0);
    own.transport.whenTaken();
    await turns();
    this.expect("pause", peer.receivedBytes === expected.length);
    this.expect("taken", !own.isTaken || own.transport.waitingBytes === 0);
    this.step = "waiting writes leave";
    peer.transport.resume();
    await this.until("end of the writes", () => own.isTaken && peer.receivedBytes >= total);
    this.expect("bytes", peer.tail.subarray(-everyOctet.length).equals(everyOctet));
    this.expect("waiting bytes", own.transport.waitingBytes === 0);
  }

  private async proveHalfClose({ own, peer }: Pair): Promise<void> {
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

  private async proveReuse({ own, peer }: Pair): Promise<void> {
    this.step = "requests that are used again";
    for (const text of ["one ", "two ", "three"]) own.transport.writeText(text);
    await this.until("reads", () => peer.receivedBytes >= 13);
    this.expect("bytes", peer.tail.toString() === "one two three");
  }

  private async proveReset({ own, peer }: Pair): Promise<void> {
    this.step = "reset";
    own.transport.reset();
    await this.until("close", () => own.isClosed && peer.isClosed);
    this.expect("ECONNRESET", peer.code === "ECONNRESET");
  }

  private listen(onConnection: (socket: Socket) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true }, onConnection);
      this.server = server;
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  }

  /** Waits for a condition, which is looked at whenever something has happened. */
  private until(what: string, isTrue: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.giveUp = ({ message }) => reject(new Error(`${what}: ${message}`));
      this.check = () => {
        if (!isTrue()) return;
        this.check = () => {};
        resolve();
      };
      this.check();
    });
  }

  private expect(what: string, isTrue: boolean): void {
    if (!isTrue) throw new Error(`${what} not as expected`);
  }
}

/** Until it is proved that the runtime says which writes wait, no request is used again: one in use would end the process. */
const withoutReuse = ({ createWrite, state, readAt, isAsyncAt }: HandleInternals): HandleInternals => ({
  createWrite,
  state,
  readAt,
  isAsyncAt,
  get spare() {
    return undefined;
  },
  set spare(_) {},
});

/** Lets everything happen that is due. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
