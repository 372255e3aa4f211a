import { ReplayBuffer } from "../http/replay-buffer.ts";
import type { Fields } from "../message/fields.ts";
import type { Chunk, HeaderList, RequestBody, ResponseHead } from "../message/message.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import type { UpstreamError } from "../upstream/upstream-errors.ts";
import type { Selection, UpstreamHandler, UpstreamRequest, UpstreamStream } from "../upstream/upstream.ts";

/** Sends a check request to the endpoint that was selected for it, as `sendSelected` does. */
export type SendCheck = (
  selection: Selection,
  request: UpstreamRequest,
  handler: UpstreamHandler,
) => UpstreamStream;

/** The response of an authorization service. */
export type ExternalAnswer = {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly trailers: HeaderList | undefined;
};

/** The reason why a call has failed; `answer` means that the service sent an answer that cannot be used. */
export type CallFailure = "timeout" | "unreachable" | "answer";

/**
 * The maximum size of a response body; one that is meant for a client is small, and a larger one counts as a failure.
 */
const maxBodyBytes = 65_536;

/** Reports whether the body of a response is needed; otherwise it is read to its end and discarded. */
export type ReadsBody = (status: number) => boolean;

/** One check request over the upstream client, within a time limit that covers the whole response. */
export class ExternalCall implements UpstreamHandler {
  /** The response; undefined if the service failed or did not answer in time. */
  readonly answer: Promise<ExternalAnswer | undefined>;
  private settle!: (answer: ExternalAnswer | undefined) => void;
  private readonly timeoutMs: number;
  private readonly selection: Selection;
  private readonly timer: AwakeTimer;
  private readonly stream: UpstreamStream;
  private readonly readsBody: ReadsBody;
  private readonly body = new ReplayBuffer(maxBodyBytes);
  private head: ResponseHead | undefined = undefined;
  private done = false;
  /** The kind of failure; undefined if nothing has failed, or the kind is not known. */
  failure: CallFailure | undefined = undefined;
  /** A description of the failure, for the access log. */
  detail: string | undefined = undefined;

  constructor(
    send: SendCheck,
    selection: Selection,
    request: UpstreamRequest,
    { timeoutMs, readsBody }: { readonly timeoutMs: number; readonly readsBody: ReadsBody },
  ) {
    this.answer = new Promise((resolve) => (this.settle = resolve));
    this.selection = selection;
    this.readsBody = readsBody;
    this.timeoutMs = timeoutMs;
    this.timer = new AwakeTimer(
      () => this.fail("timeout", `no answer within ${this.timeoutMs} ms`),
      timeoutMs,
    );
    this.stream = send(selection, request, this);
  }

  /** Aborts the check request: its answer is no longer wanted. */
  cancel(): void {
    if (this.done) return;
    this.stream.abort();
    this.end(undefined);
  }

  /** Ends the call and reports the failure of the endpoint to its health watch. */
  private fail(failure: CallFailure, detail: string): void {
    if (this.done) return;
    this.failure = failure;
    this.detail = detail;
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
    this.fail("answer", `answer of more than ${maxBodyBytes} bytes`);
    return false;
  }

  onEnd(trailers: HeaderList | undefined): void {
    const { head, body } = this;
    this.end(
      head && { status: head.status, headers: [...head.headers.toList()], body: body.bytes, trailers },
    );
  }

  onUpgrade(_headers: Fields, { transport }: TunnelEnd): void {
    transport.destroy();
    this.detail = "unexpected upgrade";
    this.end(undefined);
  }

  onError({ kind, text }: UpstreamError): void {
    this.detail = text;
    this.failure = kind === "invalid" ? "answer" : kind.endsWith("timeout") ? "timeout" : "unreachable";
    this.end(undefined);
  }

  private end(answer: ExternalAnswer | undefined): void {
    if (this.done) return;
    this.done = true;
    this.timer.clear();
    this.settle(answer);
  }
}

/** A request body that is in memory as a whole. */
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
