import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Fields } from "../../src/message/fields.ts";
import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  HeaderList,
  RequestBody,
  ResponseHead,
} from "../../src/message/message.ts";
import { socketLayer } from "../socket-layers.ts";
import type { TunnelEnd } from "../../src/sockets/transport.ts";
import type { UpstreamError } from "../../src/upstream/upstream-errors.ts";
import { createIdlePool } from "../../src/upstream/idle-pool.ts";
import type { UpstreamClientOptions } from "../../src/upstream/connect/options.ts";
import { createResolver } from "../../src/upstream/resolver.ts";
import type { UpstreamEndpoint, UpstreamHandler, UpstreamRequest } from "../../src/upstream/upstream.ts";
import { type Listed, listed } from "../message/listed.ts";

/** Waits until a condition holds. If it never does, mocha's own time limit ends the test. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

export const clientOptions = (overrides: Partial<UpstreamClientOptions> = {}): UpstreamClientOptions => ({
  connectTimeoutMs: 0,
  idlePool: createIdlePool(128),
  resolver: createResolver(),
  sockets: socketLayer(),
  ...overrides,
});

export const getRequest = (overrides: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  protocol: "http1",
  method: "GET",
  target: "/",
  authority: "example.com",
  scheme: "http",
  headers: Fields.of([]),
  body: null,
  upgrade: undefined,
  expectContinue: false,
  ...overrides,
});

/** A raw TCP server. Every accepted connection is a `Peer` that the test controls. */
export class RawServer {
  readonly peers: Peer[] = [];
  readonly endpoint: UpstreamEndpoint;
  private readonly closeServer: () => void;

  private constructor(endpoint: UpstreamEndpoint, closeServer: () => void) {
    this.endpoint = endpoint;
    this.closeServer = closeServer;
  }

  static async start(onPeer?: (peer: Peer, index: number) => void): Promise<RawServer> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const endpoint = { host: "127.0.0.1", port, address: `127.0.0.1:${port}` };
    const raw = new RawServer(endpoint, () => server.close());
    server.on("connection", (socket) => {
      const peer = new Peer(socket);
      raw.peers.push(peer);
      onPeer?.(peer, raw.peers.length - 1);
    });
    return raw;
  }

  /** Returns the connection with this index, once it has been accepted. */
  async peer(index: number): Promise<Peer> {
    await until(() => this.peers.length > index);
    return this.peers[index] as Peer;
  }

  close(): void {
    this.closeServer();
    for (const peer of this.peers) peer.socket.destroy();
  }
}

export class Peer {
  readonly socket: Socket;
  /** Everything received, one character per byte. */
  received = "";
  closed = false;
  /** Called after each received piece. */
  onData: (() => void) | undefined = undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (piece) => {
      this.received += piece.toString("latin1");
      this.onData?.();
    });
    socket.on("error", () => undefined);
    // The end or reset of the other side both count as a close.
    socket.on("end", () => (this.closed = true));
    socket.on("close", () => (this.closed = true));
  }

  write(text: string): void {
    this.socket.write(text, "latin1");
  }

  /** The number of request heads that have arrived. */
  get heads(): number {
    return this.received.split("\r\n\r\n").length - 1;
  }

  async until(part: string): Promise<void> {
    await until(() => this.received.includes(part));
  }

  /** Sends RST instead of FIN. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** Starts a server that responds to every request head with this text. */
export const answering = (text: string): Promise<RawServer> =>
  RawServer.start((peer) => {
    let answered = 0;
    peer.onData = () => {
      while (answered < peer.heads) {
        answered++;
        peer.write(text);
      }
    };
  });

/** A handler that records its events; `done` settles at any end of the response. */
export class Recorder implements UpstreamHandler {
  readonly reused: boolean[] = [];
  readonly informational: [number, HeaderList][] = [];
  readonly pieces: Chunk[] = [];
  head: Listed<ResponseHead> | undefined = undefined;
  /** Ends received; more than one is a fault of the client. */
  ends: ("end" | "error" | "upgrade")[] = [];
  trailers: HeaderList | undefined = undefined;
  error: UpstreamError | undefined = undefined;
  upgraded: (TunnelEnd & { readonly headers: HeaderList }) | undefined = undefined;
  receivedBytes = 0;
  /** Set to false for a receiver that accepts nothing more. */
  accepting = true;
  readonly done: Promise<void>;
  private settle: () => void = () => undefined;

  constructor() {
    this.done = new Promise((resolve) => (this.settle = resolve));
  }

  get text(): string {
    return this.pieces
      .map((piece) => (typeof piece === "string" ? piece : piece.toString("latin1")))
      .join("");
  }

  onConnection(reused: boolean): void {
    this.reused.push(reused);
  }
  onInformational(status: number, headers: HeaderList): void {
    this.informational.push([status, headers]);
  }
  onHead(head: ResponseHead): void {
    this.head = listed(head);
  }
  onData(piece: Chunk): boolean {
    this.pieces.push(piece);
    this.receivedBytes += piece.length;
    return this.accepting;
  }
  onEnd(trailers: HeaderList | undefined): void {
    this.trailers = trailers;
    this.ends.push("end");
    this.settle();
  }
  onUpgrade(headers: Fields, end: TunnelEnd): void {
    this.upgraded = { ...end, headers: [...headers.toList()] };
    this.ends.push("upgrade");
    this.settle();
  }
  onError(error: UpstreamError): void {
    this.error = error;
    this.ends.push("error");
    this.settle();
  }
}

/** A request body to which the test passes pieces. */
export class ManualBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  /** The value that the sink returned for the last piece. */
  accepted = true;
  resumes = 0;
  private sink: BodySink | undefined = undefined;
  private readonly atStart: (body: ManualBody) => void;

  constructor(length: number | undefined, atStart: (body: ManualBody) => void = () => undefined) {
    this.length = length;
    this.atStart = atStart;
  }

  start(sink: BodySink): void {
    if (this.started) throw new Error("a body is started once");
    this.started = true;
    this.sink = sink;
    this.atStart(this);
  }
  resume(): void {
    this.accepted = true;
    this.resumes++;
  }
  push(chunk: Chunk): boolean {
    this.accepted = this.sink?.onData(chunk) ?? false;
    return this.accepted;
  }
  end(trailers?: HeaderList): void {
    this.sink?.onEnd(trailers);
  }
  abort(reason: BodyAbortReason): void {
    this.sink?.onAbort(reason);
  }
}
