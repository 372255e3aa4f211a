import { createServer, type AddressInfo, type Server, Socket } from "node:net";
import type { Front, FrontLimits, RequestHandler } from "../../../src/http/front.ts";
import type { FrontEvent } from "../../../src/http/h1/events.ts";
import { Fields } from "../../../src/message/fields.ts";
import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  ClientStream,
  HeaderList,
} from "../../../src/message/message.ts";
import type { ListenerView } from "../../../src/exchange/listener-view.ts";
import { createFrontOfCodec } from "../../http1-codecs.ts";
import { samePublicPorts } from "../../listeners/public-ports.ts";
import { SweptMemory } from "../swept-memory.ts";

/** Limits that no test reaches by accident. */
export const wideLimits: FrontLimits = {
  maxUriBytes: 16_384,
  maxHeaderBytes: 65_536,
  maxHeaders: 100,
  maxRequestsPerConnection: 10_000,
  headerTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  writeTimeoutMs: 60_000,
};

export type TestListener = { -readonly [K in keyof ListenerView]: ListenerView[K] };

export const testListener = (): TestListener => ({
  port: 80,
  portLabel: "80",
  publicPorts: samePublicPorts(80),
  secure: false,
  table: {
    pathLevel: () => "base",
    filtersOf: undefined,
    clientRulesOf: undefined,
    match: () => undefined,
    isMisdirected: () => false,
    groupOf: () => undefined,
  },
  draining: false,
});

export type FrontUnderTest = {
  readonly front: Front;
  readonly port: number;
  readonly events: FrontEvent[];
  readonly listener: TestListener;
  /** The sockets that were passed to the front, oldest first. */
  readonly sockets: Socket[];
  connect(): Promise<RawClient>;
  /** Resolves when the front has completed a sweep over its time limits that began after the call. */
  swept(): Promise<void>;
};

const running: { readonly server: Server; readonly front: Front; readonly clients: RawClient[] }[] = [];

export type FrontOptions = {
  /** The time since the first bytes of each connection arrived. */
  readonly spentMs?: number;
  /** The limit on response bytes that wait for clients. */
  readonly maxWaitingBytes?: number;
};

/** Starts a front behind a real listening socket. `stopAll` closes everything. */
export async function startFront(
  handler: RequestHandler,
  limits: Partial<FrontLimits> = {},
  { spentMs, maxWaitingBytes }: FrontOptions = {},
): Promise<FrontUnderTest> {
  const events: FrontEvent[] = [];
  const listener = testListener();
  const sockets: Socket[] = [];
  const clients: RawClient[] = [];
  const responseMemory = new SweptMemory(maxWaitingBytes);
  const front = createFrontOfCodec({
    responseMemory,
    limits: { ...wideLimits, ...limits },
    handler,
    onEvent: (event) => events.push(event),
  });
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.push(socket);
    const connection = {
      remoteAddress: socket.remoteAddress ?? "",
      remotePort: socket.remotePort ?? 0,
      proxied: false,
      listener,
      tls: undefined,
    };
    front.accept(socket, connection, spentMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  running.push({ server, front, clients });
  return {
    front,
    port,
    events,
    listener,
    sockets,
    async connect() {
      const client = await RawClient.connect(port);
      clients.push(client);
      return client;
    },
    swept: () => responseMemory.swept(),
  };
}

export async function stopAll(): Promise<void> {
  for (const { server, front, clients } of running.splice(0)) {
    for (const client of clients) client.socket.destroy();
    front.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await eventually(() => front.connections === 0);
  }
}

/** Waits until a condition becomes true through other events. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** A client that sends bytes unchanged, and collects the received ones as latin1 text. */
export class RawClient {
  readonly socket: Socket;
  text = "";
  /** True once the server has ended its side gracefully. */
  ended = false;
  /** True once the socket is closed. */
  closed = false;
  errorCode: string | undefined = undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.text += chunk.toString("latin1");
    });
    socket.on("end", () => {
      this.ended = true;
    });
    socket.on("close", () => {
      this.closed = true;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.errorCode = error.code;
    });
  }

  static async connect(port: number, host: string = "127.0.0.1"): Promise<RawClient> {
    const socket = new Socket({ allowHalfOpen: true });
    const client = new RawClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", () => resolve());
      socket.once("error", reject);
      socket.connect(port, host);
    });
    return client;
  }

  send(text: string): void {
    this.socket.write(text, "latin1");
  }

  /** Waits until the received text matches. Fails if the connection ends before. */
  async until(pattern: RegExp): Promise<string> {
    await eventually(() => pattern.test(this.text) || this.ended || this.closed);
    if (!pattern.test(this.text)) throw new Error(`the connection ended after: ${JSON.stringify(this.text)}`);
    return this.text;
  }

  /** Waits until the server has ended the connection, and returns everything received. */
  async untilEnd(): Promise<string> {
    await eventually(() => this.ended || this.closed);
    return this.text;
  }
}

export const request = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Starts a front that collects the streams of requests, for the test to answer. */
export async function startManual(
  limits: Partial<FrontLimits> = {},
  options: FrontOptions = {},
): Promise<FrontUnderTest & { readonly streams: ClientStream[] }> {
  const streams: ClientStream[] = [];
  const started = await startFront((_, _head, client) => void streams.push(client), limits, options);
  return { ...started, streams };
}

/** Starts a front that answers each request with its target. */
export const startAnswering = (
  limits: Partial<FrontLimits> = {},
  options: FrontOptions = {},
): Promise<FrontUnderTest> => startFront((_, head, client) => answer(client, head.target), limits, options);

export const headOf = (text: string): string => text.slice(0, text.indexOf("\r\n\r\n"));
export const bodyOf = (text: string): string => text.slice(text.indexOf("\r\n\r\n") + 4);
export const statusesOf = (text: string): string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] as string);

/** Answers immediately with a short text. */
export function answer(client: ClientStream, text = "hello", headers: HeaderList = []): void {
  client.sendHead({
    status: 200,
    headers: Fields.of([...headers, "Content-Length", String(text.length)]),
    length: text.length,
    bodyless: false,
  });
  if (text !== "") client.write(text);
  client.end(undefined);
}

/** Collects a body. Set `accept` to false to pause it after the next chunk. */
export class CollectingSink implements BodySink {
  text = "";
  bytes = 0;
  ended = false;
  aborted: BodyAbortReason | undefined = undefined;
  trailers: HeaderList | undefined = undefined;
  onComplete: (() => void) | undefined = undefined;
  onAborted: (() => void) | undefined = undefined;
  accept = true;

  onData(chunk: Chunk): boolean {
    this.bytes += chunk.length;
    if (this.bytes < 100_000) this.text += typeof chunk === "string" ? chunk : chunk.toString("latin1");
    return this.accept;
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.ended = true;
    this.trailers = trailers;
    this.onComplete?.();
  }

  onAbort(reason: BodyAbortReason): void {
    this.aborted = reason;
    this.onAborted?.();
  }
}
