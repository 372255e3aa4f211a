import { connect, type Socket } from "node:net";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { AcceptedConnection, Acceptor } from "../accepting.ts";
import { proveServerTls } from "./accept-tls-self-test.ts";
import { createAcceptor } from "./acceptor.ts";
import { findServerTls, type HandleInternals, handleOf, lackOfTcp, type TcpHandle } from "./internals.ts";
import { maxTestMs, type ProvedHandles } from "./self-test.ts";
import { everyOctet, type Pair, TestBench, TestEnd, testSockets } from "./test-bench.ts";

/**
 * Proves, on connections of the process to itself, that accepted handles can be used without sockets: addresses, bytes,
 * ends and resets of both sides, sockets that are created later, and TLS. The error names the first failed check.
 */
export async function proveAccepting(
  internals: HandleInternals,
  { prototype }: ProvedHandles,
  limitMs = maxTestMs,
): Promise<Result<Acceptor, string>> {
  const tls = findServerTls();
  if (!tls.ok) return tls;
  const bench = new TestBench(limitMs);
  const acceptor = createAcceptor(internals, prototype, tls.value);
  try {
    return await new AcceptProof(bench, internals, acceptor).prove();
  } catch (error) {
    return fail(`self-test of accepted TCP handles, ${bench.step}: ${(error as Error).message}`);
  } finally {
    bench.close();
  }
}

type AcceptedPair = Pair & { readonly accepted: AcceptedConnection; readonly client: Socket };

class AcceptProof {
  private readonly bench: TestBench;
  private readonly internals: HandleInternals;
  private readonly acceptor: Acceptor;
  private readonly accepted: AcceptedConnection[] = [];
  private port = 0;

  constructor(bench: TestBench, internals: HandleInternals, acceptor: Acceptor) {
    this.bench = bench;
    this.internals = internals;
    this.acceptor = acceptor;
  }

  async prove(): Promise<Result<Acceptor, string>> {
    const { bench, acceptor, accepted } = this;
    bench.step = "accept";
    this.port = await bench.listen((socket) => bench.closables.push(socket));
    const isAccepting = acceptor.accept(bench.listening, (connection) => {
      accepted.push(connection);
      bench.check();
    });
    if (!isAccepting) return fail("server._handle.onconnection");
    const first = await this.connect();
    const lack = lackOfTcp(handleOf(first) as TcpHandle);
    if (lack !== undefined) return fail(`handle.${lack}`);
    const pair = this.open(first);
    this.proveAddresses(pair);
    await this.proveBytes(pair);
    await bench.proveHalfClose(this.open(await this.connect()));
    const { own, peer } = this.open(await this.connect());
    await bench.proveHalfClose({ own: peer, peer: own });
    await this.proveResets();
    await this.proveSocket();
    await this.provePassing();
    await proveServerTls(bench, this.port, () => accepted.pop());
    return ok(acceptor);
  }

  private async connect(): Promise<Socket> {
    const { bench, accepted, port } = this;
    bench.step = "accept";
    const client = connect({ ...testSockets, host: "127.0.0.1", port, allowHalfOpen: true });
    bench.closables.push(client);
    client.on("error", () => {});
    client.on("connect", bench.check);
    await bench.until("a connection", () => accepted.length > 0 && !client.connecting);
    return client;
  }

  private open(client: Socket): AcceptedPair {
    const { bench, internals } = this;
    const accepted = this.accepted.pop() as AcceptedConnection;
    const transport = accepted.open();
    bench.closables.push(transport);
    return { own: new TestEnd(transport, bench.check), peer: bench.end(client, internals), accepted, client };
  }

  private proveAddresses({ accepted, client }: AcceptedPair): void {
    const { bench } = this;
    bench.step = "addresses";
    bench.expect("port of the peer", accepted.peer?.port === client.localPort);
    bench.expect("address of the peer", accepted.peer?.address === client.localAddress);
    bench.expect("local port", accepted.localAddress()?.port === this.port);
  }

  private async proveBytes({ own, peer }: Pair): Promise<void> {
    const { bench } = this;
    bench.step = "bytes";
    own.transport.writeText(everyOctet.toString("latin1"));
    peer.transport.writeBytes("", everyOctet, "");
    await bench.until("reads", () => own.receivedBytes >= 256 && peer.receivedBytes >= 256);
    bench.expect("bytes", own.tail.equals(everyOctet) && peer.tail.equals(everyOctet));
    bench.expect("taken bytes", own.transport.takenBytes === 256);
  }

  private async proveResets(): Promise<void> {
    const { bench } = this;
    for (const name of ["own", "peer"] as const) {
      const pair = this.open(await this.connect());
      bench.step = `reset by ${name}`;
      const other = name === "own" ? pair.peer : pair.own;
      pair[name].transport.reset();
      await bench.until("close", () => pair.own.isClosed && pair.peer.isClosed);
      bench.expect("ECONNRESET", other.code === "ECONNRESET");
    }
  }

  private async proveSocket(): Promise<void> {
    const client = await this.connect();
    this.bench.step = "a socket";
    await this.proveReads(client, (this.accepted.pop() as AcceptedConnection).toSocket(), "late");
  }

  private async provePassing(): Promise<void> {
    const { bench } = this;
    const { own, accepted, client } = this.open(await this.connect());
    bench.step = "a socket of an opened connection";
    client.write("early");
    await bench.until("reads", () => own.receivedBytes === 5);
    const socket = accepted.passToSocket(own.tail);
    if (socket === undefined) throw new Error("no socket");
    await this.proveReads(client, socket, "earlylate");
    await bench.until("close of the transport", () => own.isClosed);
  }

  private async proveReads(client: Socket, socket: Socket, expected: string): Promise<void> {
    const { bench } = this;
    bench.closables.push(socket);
    let text = "";
    let isClosed = false;
    socket.setEncoding("latin1").on("data", (piece: string) => {
      text += piece;
      bench.check();
    });
    client.on("close", () => {
      isClosed = true;
      bench.check();
    });
    client.resume().write("late");
    await bench.until("reads", () => text === expected);
    client.end();
    socket.end();
    await bench.until("close", () => isClosed);
  }
}
