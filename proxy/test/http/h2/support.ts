import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ClientConnection } from "../../../src/exchange/client-connection.ts";
import type { ListenerView } from "../../../src/exchange/listener-view.ts";
import type { Front, FrontLimits, RequestHandler } from "../../../src/http/front.ts";
import { createNativeHttp2Front } from "../../../src/http/h2/native/front.ts";
import type { Http2FrontEvent } from "../../../src/http/h2/events.ts";
import { createHttp2Front } from "../../../src/http/h2/node/front.ts";
import { Fields } from "../../../src/message/fields.ts";
import type {
  BodyAbortReason,
  Chunk,
  ClientStream,
  HeaderList,
  RequestBody,
  RequestHead,
} from "../../../src/message/message.ts";
import { socketLayer } from "../../socket-layers.ts";
import { samePublicPorts } from "../../listeners/public-ports.ts";
import { SweptMemory } from "../swept-memory.ts";

export const generousLimits: FrontLimits = {
  maxUriBytes: 16_384,
  maxHeaderBytes: 65_536,
  maxHeaders: 100,
  maxRequestsPerConnection: 10_000,
  headerTimeoutMs: 0,
  bodyTimeoutMs: 0,
  idleTimeoutMs: 0,
  writeTimeoutMs: 0,
};

const listener: ListenerView = {
  port: 80,
  portLabel: "80",
  publicPorts: samePublicPorts(80),
  secure: false,
  draining: false,
  table: {
    pathLevel: () => "base",
    filtersOf: undefined,
    clientRulesOf: undefined,
    match: () => undefined,
    isMisdirected: () => false,
    groupOf: () => undefined,
  },
} as unknown as ListenerView;

export type Received = {
  readonly connection: ClientConnection;
  readonly head: RequestHead;
  readonly client: ClientStream;
};

/** A front behind a real listening socket. */
export type FrontServer = {
  readonly front: Front;
  readonly port: number;
  readonly url: string;
  readonly requests: Received[];
  readonly events: Http2FrontEvent[];
  /** Waits for the next request that this function has not returned yet. */
  next(): Promise<Received>;
  /** Resolves when the front has completed a sweep over its time limits that began after the call. */
  swept(): Promise<void>;
  close(): Promise<void>;
};

const fronts = { node: createHttp2Front, native: createNativeHttp2Front };

export type Codec = keyof typeof fronts;

/** The values of `--http2-codec`. All tests of a front apply to both unless they state otherwise. */
export const codecs = Object.keys(fronts) as readonly Codec[];

export async function startFront(
  codec: Codec,
  handler?: RequestHandler,
  limits: Partial<FrontLimits> = {},
): Promise<FrontServer> {
  const requests: Received[] = [];
  const events: Http2FrontEvent[] = [];
  const sockets = new Set<Socket>();
  let taken = 0;
  let wake: (() => void) | undefined;
  const responseMemory = new SweptMemory();
  const front = fronts[codec](
    {
      responseMemory,
      limits: { ...generousLimits, ...limits },
      handler: (connection, head, client) => {
        requests.push({ connection, head, client });
        handler?.(connection, head, client);
        wake?.();
      },
      onEvent: (event) => events.push(event),
    },
    socketLayer(),
  );
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    front.accept(socket, {
      remoteAddress: "127.0.0.1",
      remotePort: socket.remotePort ?? 0,
      proxied: false,
      listener,
      tls: undefined,
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    front,
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    events,
    async next() {
      while (requests.length <= taken) await new Promise<void>((resolve) => (wake = resolve));
      return requests[taken++] as Received;
    },
    swept: () => responseMemory.swept(),
    async close() {
      front.destroy();
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly trailers: Readonly<Record<string, unknown>> | undefined;
  readonly informational: readonly number[];
  readonly rstCode: number;
  /** True if the response ended without a reset. */
  readonly complete: boolean;
};

/** Collects a response of Node's own client until its stream is closed. */
export function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let trailers: Record<string, unknown> | undefined;
    let body = "";
    let complete = false;
    const informational: number[] = [];
    stream.on("error", () => undefined);
    stream.on("headers", (fields) => informational.push(Number(fields[":status"])));
    stream.on("response", (fields) => (headers = { ...fields }));
    stream.on("trailers", (fields) => (trailers = { ...fields }));
    stream.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
    stream.on("end", () => (complete = stream.rstCode === 0));
    stream.on("close", () =>
      resolve({
        status: Number(headers[":status"] ?? 0),
        headers,
        body,
        trailers,
        informational,
        rstCode: stream.rstCode,
        complete,
      }),
    );
  });
}

export async function get(
  session: ClientHttp2Session,
  fields: Record<string, string | string[]> = {},
): Promise<Answer> {
  return answerOf(session.request({ ":path": "/", ...fields }));
}

export function openSession(url: string): ClientHttp2Session {
  const session = connect(url);
  session.on("error", () => undefined);
  return session;
}

/** Answers 200 with a text of known length. */
export function reply(client: ClientStream, text: string, headers: HeaderList = []): void {
  client.sendHead({
    status: 200,
    headers: Fields.of([...headers, "Content-Length", String(text.length)]),
    length: text.length,
    bodyless: false,
  });
  client.write(text);
  client.end(undefined);
}

export const streamingHead = (headers: HeaderList = []): Parameters<ClientStream["sendHead"]>[0] => ({
  status: 200,
  headers: Fields.of(headers),
  length: undefined,
  bodyless: false,
});

export type ReadBody = {
  readonly text: string;
  readonly trailers: HeaderList | undefined;
  readonly aborted: BodyAbortReason | undefined;
};

export function readBody(body: RequestBody | null): Promise<ReadBody> {
  if (body === null) return Promise.resolve({ text: "", trailers: undefined, aborted: undefined });
  return new Promise((resolve) => {
    let text = "";
    body.start({
      onData(chunk: Chunk) {
        text += typeof chunk === "string" ? chunk : chunk.toString("latin1");
        return true;
      },
      onEnd: (trailers) => resolve({ text, trailers, aborted: undefined }),
      onAbort: (aborted) => resolve({ text, trailers: undefined, aborted }),
    });
  });
}

/** Waits until a condition is true, running the event loop in between. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
