import type { Duplex } from "node:stream";
import type { Chunk, HeaderList, ResponseHead } from "../http/message.ts";
import type {
  UpstreamClient,
  UpstreamEndpoint,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamStream,
} from "../upstream/upstream.ts";

/** What a service answered; undefined when it failed or did not in time. */
export type ExternalAnswer = { readonly status: number; readonly headers: HeaderList; readonly body: string };

/** An answer that is handed to a client is small; a longer one counts as a failure. */
const maxBodyBytes = 65_536;

/** One question to a service over the upstream client, within a time limit that covers the whole answer. */
export class ExternalCall implements UpstreamHandler {
  readonly answer: Promise<ExternalAnswer | undefined>;
  private settle!: (answer: ExternalAnswer | undefined) => void;
  private readonly timer: NodeJS.Timeout;
  private readonly stream: UpstreamStream;
  private head: ResponseHead | undefined = undefined;
  private body = "";
  private done = false;

  constructor(
    send: UpstreamClient["send"],
    endpoint: UpstreamEndpoint,
    request: UpstreamRequest,
    timeoutMs: number,
  ) {
    this.answer = new Promise((resolve) => (this.settle = resolve));
    this.timer = setTimeout(() => this.cancel(), timeoutMs);
    this.stream = send(endpoint, request, this);
  }

  /** Nobody waits for the answer any more, or no longer. */
  cancel(): void {
    if (this.done) return;
    this.stream.abort();
    this.end(undefined);
  }

  onConnection(): void {}

  onInformational(): void {}

  onHead(head: ResponseHead): void {
    this.head = head;
  }

  onData(chunk: Chunk): boolean {
    if (this.body.length + chunk.length > maxBodyBytes) {
      this.cancel();
      return false;
    }
    this.body += typeof chunk === "string" ? chunk : chunk.toString("latin1");
    return true;
  }

  onEnd(): void {
    const { head, body } = this;
    this.end(head && { status: head.status, headers: head.headers, body });
  }

  onUpgrade(_headers: HeaderList, socket: Duplex): void {
    socket.destroy();
    this.end(undefined);
  }

  onError(): void {
    this.end(undefined);
  }

  private end(answer: ExternalAnswer | undefined): void {
    if (this.done) return;
    this.done = true;
    clearTimeout(this.timer);
    this.settle(answer);
  }
}
