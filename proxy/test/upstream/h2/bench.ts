import type { ServerHttp2Stream } from "node:http2";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { type Backend, createClient, startBackend, type StreamHandler } from "./support.ts";

const answerOk: StreamHandler = (stream) => {
  stream.respond({ ":status": 200 });
  stream.end("ok");
};

/** The client and the backend of a test, which may replace them. They are closed at the end of the test. */
export class Http2Bench {
  client!: UpstreamClient;
  backend!: Backend;
  /** Handles each request at the backend; responds with `ok` unless the test replaces it. */
  handler: StreamHandler = answerOk;
  /** The requests that the backend received, oldest first. */
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

  /** Leaves requests open, so that the test can respond. */
  hold(): void {
    this.handler = () => undefined;
  }

  async close(): Promise<void> {
    this.client.close();
    await this.backend.close();
  }
}

/** Creates the bench of a describe block, which starts again for each test. */
export function benchForEach(): Http2Bench {
  const bench = new Http2Bench();
  beforeEach(() => bench.start());
  afterEach(() => bench.close());
  return bench;
}
