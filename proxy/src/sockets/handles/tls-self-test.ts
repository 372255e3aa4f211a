import { connect, type Socket } from "node:net";
import { connect as connectTls, createServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import {
  type HandleInternals,
  handleOf,
  isTlsHandle,
  lackOf,
  lackOfTls,
  type TlsHandle,
} from "./internals.ts";
import { maxTestMs, type ProvedHandles } from "./self-test.ts";
import {
  everyOctet,
  maxFillBytes,
  type Pair,
  pieceBytes as usualPieceBytes,
  TestBench,
  testSockets,
  turns,
} from "./test-bench.ts";

/**
 * A key that both ends know, instead of certificates (RFC 8446 2.2). It protects only connections of the process to
 * itself.
 */
const sharedKey = Buffer.alloc(32, "svc");
const tlsOptions: SecureContextOptions = { ca: [], ciphers: "TLS_AES_128_GCM_SHA256", minVersion: "TLSv1.3" };

/**
 * Proves, on TLS connections of the process to itself, that TLS handles behave as the transport requires: they do not
 * use written memory after the call, and they report writes, the bytes that the kernel has accepted, pauses,
 * half-closes and errors. `tcp` are the proved TCP handles, on which TLS handles must be based. Pieces of `pieceBytes`
 * fill the buffers of the kernel. The error names the first failed check.
 */
export async function proveTlsHandles(
  internals: HandleInternals,
  tcp: ProvedHandles,
  limitMs = maxTestMs,
  pieceBytes = usualPieceBytes,
): Promise<Result<ProvedHandles, string>> {
  const bench = new TestBench(limitMs);
  try {
    return await new TlsProof(bench, internals, tcp, pieceBytes).prove();
  } catch (error) {
    return fail(`self-test of the TLS handles, ${bench.step}: ${(error as Error).message}`);
  } finally {
    bench.close();
  }
}

type TlsPair = Pair & {
  readonly sockets: { readonly own: Socket; readonly peer: Socket };
  readonly plain: Socket;
};

class TlsProof {
  private readonly bench: TestBench;
  private readonly internals: HandleInternals;
  private readonly tcp: ProvedHandles;
  private readonly pieceBytes: number;
  private port = 0;
  private readonly plain: Socket[] = [];
  private readonly secured: TLSSocket[] = [];

  constructor(bench: TestBench, internals: HandleInternals, tcp: ProvedHandles, pieceBytes: number) {
    this.bench = bench;
    this.internals = internals;
    this.tcp = tcp;
    this.pieceBytes = pieceBytes;
  }

  async prove(): Promise<Result<ProvedHandles, string>> {
    const { bench, plain, secured } = this;
    // The outcome of a handshake is checked in a separate turn, because closing a connection during the completion of
    // its handshake ends the process.
    const server = createServer({ ...tlsOptions, pskCallback: () => sharedKey });
    server.on("secureConnection", (socket) => {
      socket.allowHalfOpen = true;
      secured.push(socket);
      setImmediate(bench.check);
    });
    this.port = await bench.listen((socket) => {
      plain.push(socket);
      bench.closables.push(socket);
      server.emit("connection", socket);
    });
    const first = await this.pair();
    if (typeof first === "string") return fail(first);
    const prototype = Object.getPrototypeOf(handleOf(first.sockets.own)) as object;
    if (Object.getPrototypeOf(handleOf(first.sockets.peer)) !== prototype)
      return fail("one prototype of all TLS handles");
    await this.proveBytes(first);
    await this.proveWaiting(first);
    await bench.proveHalfClose(first);
    const second = await this.pair();
    if (typeof second === "string") return fail(second);
    await this.proveError(second);
    return ok({ prototype });
  }

  private async pair(): Promise<TlsPair | string> {
    const { bench, secured, internals } = this;
    bench.step = "handshake";
    let isSecure = false;
    const tcp = connect({ ...testSockets, host: "127.0.0.1", port: this.port, allowHalfOpen: true });
    bench.closables.push(tcp);
    tcp.on("error", () => {});
    const own = connectTls({
      ...tlsOptions,
      socket: tcp,
      pskCallback: () => ({ psk: sharedKey, identity: "self" }),
      checkServerIdentity: () => undefined,
    });
    own.on("error", () => {});
    own.on("secureConnect", () => {
      isSecure = true;
      setImmediate(bench.check);
    });
    await bench.until("handshake", () => isSecure && secured.length > 0);
    const peer = secured.pop() as TLSSocket;
    const plain = this.plain.pop() as Socket;
    for (const socket of [own, peer]) {
      const handle = handleOf(socket);
      const lack = lackOf(handle) ?? lackOfTls(handle, this.tcp.prototype);
      if (lack !== undefined) return `of TLS: ${lack}`;
    }
    const sockets = { own, peer };
    return { own: bench.end(own, internals), peer: bench.end(peer, internals), sockets, plain };
  }

  private async proveBytes({ own, peer }: Pair): Promise<void> {
    const { bench } = this;
    bench.step = "writes";
    const lent = Buffer.from(everyOctet);
    let isReturned = false;
    own.transport.lendBytes(lent, () => (isReturned = true));
    bench.expect("memory that is returned", isReturned);
    lent.fill("!");
    // These writes are made while the first one is under way.
    own.transport.writeText(everyOctet.toString("latin1"));
    own.transport.writeBytes("<", everyOctet, ">");
    own.transport.whenTaken();
    const expected = Buffer.concat([everyOctet, everyOctet, Buffer.from("<"), everyOctet, Buffer.from(">")]);
    await bench.until("reads", () => own.isTaken && peer.receivedBytes >= expected.length);
    bench.expect("bytes", peer.tail.equals(expected));
    bench.expect("waiting bytes", own.transport.waitingBytes === 0);
    own.isTaken = false;
  }

  private async proveWaiting({ own, peer, sockets }: TlsPair): Promise<void> {
    const { bench, pieceBytes } = this;
    bench.step = "writes that wait";
    const before = peer.receivedBytes;
    peer.transport.pause();
    const piece = Buffer.alloc(pieceBytes, "much");
    let pieces = 0;
    const tcp = tcpOf(sockets.own);
    // Writes until the kernel accepts no more. Data that is written meanwhile is sent in parts, one per turn.
    while (tcp.writeQueueSize === 0 && pieces * pieceBytes < maxFillBytes && !bench.isOver) {
      if (own.transport.waitingBytes === 0) {
        own.transport.writeBytes("", piece, "");
        pieces++;
      }
      await turns();
    }
    bench.expect("waiting bytes", own.transport.waitingBytes > 0);
    // Both count encrypted bytes, which are more than the written ones.
    bench.expect("taken bytes", own.transport.takenBytes < tcp.bytesWritten);
    own.transport.writeBytes("", everyOctet, "");
    own.transport.whenTaken();
    await turns();
    bench.expect("pause", peer.receivedBytes === before);
    // The kernel can accept the rest at any time.
    bench.expect("taken", !own.isTaken || own.transport.waitingBytes === 0);
    bench.step = "waiting writes leave";
    peer.transport.resume();
    const total = before + pieces * pieceBytes + everyOctet.length;
    await bench.until("end of the writes", () => own.isTaken && peer.receivedBytes >= total);
    bench.expect("bytes", peer.tail.subarray(-everyOctet.length).equals(everyOctet));
    bench.expect("waiting bytes", own.transport.waitingBytes === 0);
    bench.expect("taken bytes", own.transport.takenBytes === tcp.bytesWritten);
  }

  private async proveError({ own, peer, plain }: TlsPair): Promise<void> {
    const { bench } = this;
    bench.step = "an error of TLS";
    plain.write("no record");
    await bench.until("close", () => own.isClosed && peer.isClosed);
    bench.expect("its code", own.code?.startsWith("ERR_SSL_") === true);
  }
}

/** Returns the TCP handle, which counts the encrypted bytes, including those that the kernel has no room for. */
function tcpOf(socket: Socket): TlsHandle["_parent"] {
  const handle = handleOf(socket);
  if (handle === undefined || !isTlsHandle(handle)) throw new Error("no handle of TLS");
  return handle._parent;
}
