import type { Fields } from "../message/fields.ts";
import type { Chunk, HeaderList, ResponseHead } from "../message/message.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import { isFaultOfEndpoint, type UpstreamError } from "./upstream-errors.ts";
import type {
  AttemptWatch,
  Selection,
  UpstreamClient,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamStream,
} from "./upstream.ts";

/** Sends a request to the endpoint that was selected for it, and reports its outcome to the watch of that endpoint. */
export function sendSelected(
  client: Pick<UpstreamClient, "send">,
  { endpoint, watch }: Selection,
  request: UpstreamRequest,
  handler: UpstreamHandler,
): UpstreamStream {
  if (watch === undefined) return client.send(endpoint, request, handler);
  const watched = new WatchedStream(handler, watch);
  watched.stream = client.send(endpoint, request, watched);
  return watched;
}

/** Passes the events of an upstream client on to the receiver of the response, and reports them to the watch. */
class WatchedStream implements UpstreamHandler, UpstreamStream {
  stream: UpstreamStream | undefined = undefined;
  private readonly handler: UpstreamHandler;
  private watch: AttemptWatch | undefined;

  constructor(handler: UpstreamHandler, watch: AttemptWatch) {
    this.handler = handler;
    this.watch = watch;
  }

  private end(): void {
    const { watch } = this;
    this.watch = undefined;
    watch?.ended();
  }

  onConnection(reused: boolean): void {
    this.handler.onConnection(reused);
  }

  onRefused(): void {
    this.handler.onRefused?.();
  }

  onInformational(status: number, headers: HeaderList): void {
    this.handler.onInformational(status, headers);
  }

  onHead(head: ResponseHead): void {
    this.watch?.responded(head.status);
    this.handler.onHead(head);
  }

  onData(chunk: Chunk): boolean {
    return this.handler.onData(chunk);
  }

  get pendingBytes(): number | undefined {
    return this.handler.pendingBytes;
  }

  get copies(): boolean | "lent" {
    return this.handler.copies ?? false;
  }

  get roomBytes(): number | undefined {
    return this.handler.roomBytes;
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.end();
    this.handler.onEnd(trailers);
  }

  /** The attempt ends when the tunnel closes. */
  onUpgrade(headers: Fields, end: TunnelEnd): void {
    this.watch?.responded(101);
    end.transport.whenClosed(() => this.end());
    this.handler.onUpgrade(headers, end);
  }

  onError(error: UpstreamError): void {
    if (isFaultOfEndpoint(error)) this.watch?.failed();
    this.end();
    this.handler.onError(error);
  }

  resume(): void {
    this.stream?.resume();
  }

  abort(): void {
    this.stream?.abort();
    this.end();
  }
}
