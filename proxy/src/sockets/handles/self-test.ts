import { connect, type Socket } from "node:net";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { type HandleInternals, handleOf, lackOf } from "./internals.ts";
import {
  everyOctet,
  maxFillBytes,
  type Pair,
  pieceBytes,
  TestBench,
  testSockets,
  turns,
} from "./test-bench.ts";

/** Limit of a whole self-test, which normally takes some milliseconds. */
export const maxTestMs = 5_000;
/** The proved handles of this runtime. Those of accepted and of opened connections have the same prototype. */
export type ProvedHandles = { readonly prototype: object };

/**
 * Proves, on connections of the process to itself, that the handles behave as the transport requires: reads, writes
 * that the kernel accepts immediately and later, pauses, half-closes, resets and error codes. The error names the first
 * failed check.
 */
export async function proveHandles(
  internals: HandleInternals,
  limitMs = maxTestMs,
): Promise<Result<ProvedHandles, string>> {
  const bench = new TestBench(limitMs);
  try {
    return await new TcpProof(bench, internals).prove();
  } catch (error) {
    return fail(`self-test of the TCP handles, ${bench.step}: ${(error as Error).message}`);
  } finally {
    bench.close();
  }
}

type SocketPair = Pair & { readonly sockets: { readonly own: Socket; readonly peer: Socket } };

class TcpProof {
  private readonly bench: TestBench;
  private readonly internals: HandleInternals;

  constructor(bench: TestBench, internals: HandleInternals) {
    this.bench = bench;
    this.internals = internals;
  }

  async prove(): Promise<Result<ProvedHandles, string>> {
    const { bench } = this;
    const accepted: Socket[] = [];
    const port = await bench.listen((socket) => {
      accepted.push(socket);
      bench.check();
    });
    const pair = async (internals: HandleInternals): Promise<SocketPair | string> => {
      const own = connect({ ...testSockets, host: "127.0.0.1", port, allowHalfOpen: true });
      bench.closables.push(own);
      own.on("error", () => {});
      own.on("connect", bench.check);
      await bench.until("connect", () => accepted.length > 0 && !own.connecting);
      const peer = accepted.pop() as Socket;
      bench.closables.push(peer);
      for (const socket of [own, peer]) {
        const lack = lackOf(handleOf(socket));
        if (lack !== undefined) return lack;
      }
      const sockets = { own, peer };
      return { own: bench.end(own, internals), peer: bench.end(peer, internals), sockets };
    };
    const first = await pair(withoutReuse(this.internals));
    if (typeof first === "string") return fail(first);
    const prototype = Object.getPrototypeOf(handleOf(first.sockets.own)) as object;
    if (Object.getPrototypeOf(handleOf(first.sockets.peer)) !== prototype)
      return fail("one prototype of all TCP handles");
    await this.proveBytes(first);
    await bench.proveHalfClose(first);
    const second = await pair(this.internals);
    if (typeof second === "string") return fail(second);
    await this.proveReuse(second);
    await this.proveReset(second);
    return ok({ prototype });
  }

  private async proveBytes({ own, peer }: Pair): Promise<void> {
    const { bench } = this;
    bench.step = "writes that are taken at once";
    own.transport.writeText(everyOctet.toString("latin1"));
    own.transport.writeBytes("<", everyOctet, ">");
    own.transport.writeBytes("", everyOctet, "");
    bench.expect("waiting bytes", own.transport.waitingBytes === 0);
    const [open, close] = [Buffer.from("<"), Buffer.from(">")];
    const expected = Buffer.concat([everyOctet, open, everyOctet, close, everyOctet]);
    await bench.until("reads", () => peer.receivedBytes >= expected.length);
    bench.expect("bytes", peer.tail.equals(expected));
    bench.step = "writes that wait";
    peer.transport.pause();
    const text = everyOctet.toString("latin1");
    const piece = Buffer.alloc(pieceBytes, "much");
    let pieces = 0;
    while (own.transport.waitingBytes === 0 && pieces * pieceBytes < maxFillBytes) {
      own.transport.writeBytes("", piece, "");
      pieces++;
    }
    bench.expect("waiting bytes", own.transport.waitingBytes === pieceBytes);
    own.transport.writeText(text);
    const total = expected.length + pieces * pieceBytes + text.length;
    // The kernel can accept the rest of the piece at any time. That is reported later, and a text behind it can be
    // accepted immediately.
    const behind = own.transport.waitingBytes - pieceBytes;
    bench.expect("bytes behind them", behind === 0 || behind === text.length);
    bench.expect("taken bytes", own.transport.takenBytes < total || behind === 0);
    own.transport.whenTaken();
    await turns();
    bench.expect("pause", peer.receivedBytes === expected.length);
    bench.expect("taken", !own.isTaken || own.transport.waitingBytes === 0);
    bench.step = "waiting writes leave";
    peer.transport.resume();
    await bench.until("end of the writes", () => own.isTaken && peer.receivedBytes >= total);
    bench.expect("bytes", peer.tail.subarray(-everyOctet.length).equals(everyOctet));
    bench.expect("waiting bytes", own.transport.waitingBytes === 0);
  }

  private async proveReuse({ own, peer }: Pair): Promise<void> {
    const { bench } = this;
    bench.step = "requests that are used again";
    for (const text of ["one ", "two ", "three"]) own.transport.writeText(text);
    await bench.until("reads", () => peer.receivedBytes >= 13);
    bench.expect("bytes", peer.tail.toString() === "one two three");
  }

  private async proveReset({ own, peer }: Pair): Promise<void> {
    const { bench } = this;
    bench.step = "reset";
    own.transport.reset();
    await bench.until("close", () => own.isClosed && peer.isClosed);
    bench.expect("ECONNRESET", peer.code === "ECONNRESET");
  }
}

/**
 * Disables reuse of requests until it is proved that waiting writes are reported: reusing one in use ends the process.
 */
const withoutReuse = (internals: HandleInternals): HandleInternals => ({
  ...internals,
  get spare() {
    return undefined;
  },
  set spare(_) {},
});
