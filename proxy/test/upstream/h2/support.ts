import { socketLayer } from "../../socket-layers.ts";
import { once } from "node:events";
import {
  createSecureServer,
  createServer as createHttp2Server,
  type Http2Server,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Fields } from "../../../src/message/fields.ts";
import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  HeaderList,
  RequestBody,
  ResponseHead,
} from "../../../src/message/message.ts";
import type { UpstreamError } from "../../../src/upstream/upstream-errors.ts";
import { createHttp2UpstreamClient } from "../../../src/upstream/h2/client.ts";
import { createIdlePool, type IdlePool } from "../../../src/upstream/idle-pool.ts";
import type { Resolver } from "../../../src/upstream/resolver.ts";
import type {
  UpstreamClient,
  UpstreamEndpoint,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamStream,
} from "../../../src/upstream/upstream.ts";
import { http2Codec } from "../../http2-codecs.ts";
import { RawPeer } from "../../http/h2/frames.ts";

const endpoints = new Map<number, UpstreamEndpoint>();

/** Returns the endpoint of a port, always the same object. */
export function endpointOf(port: number): UpstreamEndpoint {
  const endpoint = endpoints.get(port) ?? { host: "127.0.0.1", port, address: `127.0.0.1:${port}` };
  endpoints.set(port, endpoint);
  return endpoint;
}

/** Creates a client on the codec of the describe block (`describeHttp2Codecs`). */
export function createClient(
  options: {
    readonly connectTimeoutMs?: number;
    readonly idlePool?: IdlePool;
    readonly resolver?: Resolver;
  } = {},
): UpstreamClient {
  return createHttp2UpstreamClient(
    {
      connectTimeoutMs: options.connectTimeoutMs ?? 0,
      idlePool: options.idlePool ?? createIdlePool(128),
      resolver: options.resolver ?? {
        resolve: () => {
          throw new Error("no name is resolved in these tests");
        },
        lastKnown: () => undefined,
      },
      sockets: socketLayer(),
    },
    http2Codec(),
  );
}

export const getRequest: UpstreamRequest = {
  protocol: "http2",
  method: "GET",
  target: "/",
  authority: "a.test",
  scheme: "http",
  headers: Fields.of([]),
  body: null,
  upgrade: undefined,
  expectContinue: false,
};

/** The events that a handler received for one request. */
export type Exchanged = {
  readonly stream: UpstreamStream;
  readonly connections: boolean[];
  readonly informational: number[];
  readonly informationalHeaders: HeaderList[];
  head: ResponseHead | undefined;
  body: string;
  trailers: HeaderList | undefined;
  ended: boolean;
  error: UpstreamError | undefined;
  /** Set to make `onData` request a pause. */
  full: boolean;
  /** Resolves when the request has ended or failed. */
  readonly settled: Promise<Exchanged>;
  when(condition: () => boolean): Promise<void>;
};

/** Sends a request and records all events; a second outcome throws. */
export function exchange(
  client: UpstreamClient,
  to: number | UpstreamEndpoint,
  request: Partial<UpstreamRequest> = {},
): Exchanged {
  const waiters = new Set<() => void>();
  const wake = (): void => {
    for (const waiter of [...waiters]) waiter();
  };
  let settle: (value: Exchanged) => void = () => undefined;
  const record = {
    connections: [] as boolean[],
    informational: [] as number[],
    informationalHeaders: [] as HeaderList[],
    head: undefined as ResponseHead | undefined,
    body: "",
    trailers: undefined as HeaderList | undefined,
    ended: false,
    error: undefined as UpstreamError | undefined,
    full: false,
    settled: new Promise<Exchanged>((resolve) => (settle = resolve)),
    when: async (condition: () => boolean): Promise<void> => {
      while (!condition()) await new Promise<void>((resolve) => waiters.add(resolve));
    },
  };
  const expectOpen = (): void => {
    if (record.ended || record.error !== undefined) throw new Error("second outcome");
  };
  const handler: UpstreamHandler = {
    onConnection: (reused) => void record.connections.push(reused),
    onInformational(status, headers) {
      record.informational.push(status);
      record.informationalHeaders.push(headers);
    },
    onHead(head) {
      expectOpen();
      record.head = head;
      wake();
    },
    onData(chunk) {
      expectOpen();
      record.body += typeof chunk === "string" ? chunk : chunk.toString("latin1");
      wake();
      return !record.full;
    },
    onEnd(trailers) {
      expectOpen();
      record.trailers = trailers;
      record.ended = true;
      settle(exchanged);
      wake();
    },
    onUpgrade: () => {
      throw new Error("no upgrades in HTTP/2");
    },
    onError(error) {
      expectOpen();
      record.error = error;
      settle(exchanged);
      wake();
    },
  };
  const stream = client.send(
    typeof to === "number" ? endpointOf(to) : to,
    { ...getRequest, ...request },
    handler,
  );
  const exchanged: Exchanged = Object.assign(record, { stream });
  return exchanged;
}

/** A request body to which the test passes pieces. */
export class FedBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  resumes = 0;
  private sink: BodySink | undefined = undefined;
  private onStart: () => void = () => undefined;
  readonly whenStarted = new Promise<void>((resolve) => (this.onStart = resolve));

  constructor(length?: number) {
    this.length = length;
  }

  start(sink: BodySink): void {
    this.started = true;
    this.sink = sink;
    this.onStart();
  }

  resume(): void {
    this.resumes++;
  }

  data(chunk: Chunk): boolean {
    return this.sink?.onData(chunk) ?? false;
  }

  end(trailers?: HeaderList): void {
    this.sink?.onEnd(trailers);
  }

  abort(reason: BodyAbortReason): void {
    this.sink?.onAbort(reason);
  }
}

/** Returns a body that is delivered in full as soon as it is started. */
export const bodyOf = (text: string): RequestBody => ({
  length: text.length,
  started: false,
  start(sink) {
    sink.onData(text);
    sink.onEnd(undefined);
  },
  resume: () => undefined,
});

export type StreamHandler = (
  stream: ServerHttp2Stream,
  headers: Readonly<Record<string, unknown>>,
  raw: readonly string[],
) => void;

export type Backend = {
  readonly server: Http2Server;
  readonly port: number;
  readonly sessions: ServerHttp2Session[];
  close(): Promise<void>;
};

/** Starts Node's own HTTP/2 server as an upstream; over TLS if a certificate is given. */
export async function startBackend(
  handler: StreamHandler,
  settings: Settings = {},
  certificate?: Pick<SecureServerOptions, "cert" | "key">,
): Promise<Backend> {
  const server: Http2Server =
    certificate === undefined
      ? createHttp2Server({ settings })
      : createSecureServer({ settings, ...certificate });
  const sessions: ServerHttp2Session[] = [];
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => undefined);
  });
  server.on("stream", (stream, headers, _flags, raw) => {
    stream.on("error", () => undefined);
    handler(stream, headers, raw as string[]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    sessions,
    async close() {
      for (const session of sessions) session.destroy();
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export type RawBackend = {
  readonly port: number;
  readonly sockets: Socket[];
  /** Returns the next connection, as a peer that speaks frames. */
  accept(): Promise<RawPeer>;
  close(): Promise<void>;
};

/** Starts an upstream that sends the frames or bytes that the test writes. */
export async function startRawBackend(onSocket?: (socket: Socket) => void): Promise<RawBackend> {
  const sockets: Socket[] = [];
  const peers: RawPeer[] = [];
  let taken = 0;
  let wake: (() => void) | undefined;
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    if (onSocket === undefined) peers.push(new RawPeer(socket, { asServer: true }));
    else {
      socket.on("error", () => undefined);
      onSocket(socket);
    }
    wake?.();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async accept() {
      while (peers.length <= taken) await new Promise<void>((resolve) => (wake = resolve));
      return peers[taken++] as RawPeer;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
