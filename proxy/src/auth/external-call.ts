import type { Duplex } from "node:stream";
import { ReplayBuffer } from "../http/replay-buffer.ts";
import type { Chunk, HeaderList, RequestBody, ResponseHead } from "../message/message.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import type { UpstreamError } from "../upstream/errors.ts";
import type { Selection, UpstreamHandler, UpstreamRequest, UpstreamStream } from "../upstream/upstream.ts";

/** Sends a question to the endpoint that was selected for it, as `sendSelected` does. */
export type AskEndpoint = (
  selection: Selection,
  question: UpstreamRequest,
  handler: UpstreamHandler,
) => UpstreamStream;

/** What a service answered. */
export type ExternalAnswer = {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly trailers: HeaderList | undefined;
};

/** An answer that is handed to a client is small; a longer one counts as a failure. */
const maxBodyBytes = 65_536;

/** Whether the body of an answer says anything; one that does not is read to its end and thrown away. */
export type ReadsBody = (status: number) => boolean;

/** One question to a service over the upstream client, within a time limit that covers the whole answer. */
export class ExternalCall implements UpstreamHandler {
  /** Undefined: the service failed, or did not answer in time. */
  readonly answer: Promise<ExternalAnswer | undefined>;
  private settle!: (answer: ExternalAnswer | undefined) => void;
  private readonly selection: Selection;
  private readonly timer: AwakeTimer;
  private readonly stream: UpstreamStream;
  private readonly readsBody: ReadsBody;
  private readonly body = new ReplayBuffer(maxBodyBytes);
  private head: ResponseHead | undefined = undefined;
  private done = false;

  constructor(
    ask: AskEndpoint,
    selection: Selection,
    question: UpstreamRequest,
    { timeoutMs, readsBody }: { readonly timeoutMs: number; readonly readsBody: ReadsBody },
  ) {
    this.answer = new Promise((resolve) => (this.settle = resolve));
    this.selection = selection;
    this.readsBody = readsBody;
    this.timer = new AwakeTimer(() => this.fail(), timeoutMs);
    this.stream = ask(selection, question, this);
  }

  /** Nobody waits for the answer any more. */
  cancel(): void {
    if (this.done) return;
    this.stream.abort();
    this.end(undefined);
  }

  /** The endpoint is at fault. */
  private fail(): void {
    if (this.done) return;
    this.selection.watch?.failed();
    this.cancel();
  }

  onConnection(): void {}

  onInformational(): void {}

  onHead(head: ResponseHead): void {
    this.head = head;
  }

  onData(chunk: Chunk): boolean {
    if (this.head === undefined || !this.readsBody(this.head.status)) return true;
    this.body.add(chunk);
    if (!this.body.overflowed) return true;
    this.fail();
    return false;
  }

  onEnd(trailers: HeaderList | undefined): void {
    const { head, body } = this;
    this.end(head && { status: head.status, headers: head.headers, body: body.bytes, trailers });
  }

  onUpgrade(_headers: HeaderList, socket: Duplex): void {
    socket.destroy();
    this.end(undefined);
  }

  onError(_error: UpstreamError): void {
    this.end(undefined);
  }

  private end(answer: ExternalAnswer | undefined): void {
    if (this.done) return;
    this.done = true;
    this.timer.clear();
    this.settle(answer);
  }
}

/** A body that is at hand. */
export class BufferBody implements RequestBody {
  readonly restartable = true;
  started = false;
  private readonly bytes: Buffer;
  private sink: Parameters<RequestBody["start"]>[0] | undefined = undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get length(): number {
    return this.bytes.length;
  }

  start(sink: Parameters<RequestBody["start"]>[0]): void {
    this.started = true;
    if (this.bytes.length === 0 || sink.onData(this.bytes)) sink.onEnd(undefined);
    else this.sink = sink;
  }

  resume(): void {
    const { sink } = this;
    this.sink = undefined;
    sink?.onEnd(undefined);
  }

  restart(): void {
    this.started = false;
    this.sink = undefined;
  }
}
