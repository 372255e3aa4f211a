import type { ServerHttp2Stream } from "node:http2";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { type Backend, createClient, startBackend, type StreamHandler } from "./support.ts";

const answerOk: StreamHandler = (stream) => {
  stream.respond({ ":status": 200 });
  stream.end("ok");
};

/** A client and a backend of their own for each test. A test may replace any of them; they end with it. */
export class Http2Bench {
  client!: UpstreamClient;
  backend!: Backend;
  /** What the backend does with a request: answers `ok` unless the test says otherwise. */
  handler: StreamHandler = answerOk;
  /** Requests that the backend got, oldest first. */
  readonly streams: ServerHttp2Stream[] = [];

  async start(): Promise<void> {
    this.client = createClient();
    this.streams.length = 0;
    this.handler = answerOk;
    this.backend = await startBackend((stream, headers, raw) => {
      this.streams.push(stream);
      this.handler(stream, headers, raw);
    });
  }

  /** Keeps requests open: the test answers. */
  hold(): void {
    this.handler = () => undefined;
  }

  async close(): Promise<void> {
    this.client.close();
    await this.backend.close();
  }
}

/** In a describe block: a bench that is new in each test. */
export function benchForEach(): Http2Bench {
  const bench = new Http2Bench();
  beforeEach(() => bench.start());
  afterEach(() => bench.close());
  return bench;
}
