import type { Fields } from "../../message/fields.ts";
import type { HeaderList, ResponseHead } from "../../message/message.ts";
import { isIdempotent } from "../../message/methods.ts";
import { upstreamError, type UpstreamError } from "../upstream-errors.ts";
import type { TunnelEnd } from "../../sockets/transport.ts";
import type { UpstreamEndpoint, UpstreamHandler, UpstreamRequest, UpstreamStream } from "../upstream.ts";
import { type ConnectionContext, Http1Connection } from "./connection.ts";
import { type RequestBodyEvents, RequestBodyWriter } from "./request-body-writer.ts";
import { renderRequestHead } from "./request-head.ts";

const proxyClosed = upstreamError("connect", "proxy shutting down", { requestSent: false });

/**
 * One request and its response over HTTP/1.1: finds a connection, sends the request, and passes the response to the
 * handler. A pooled connection that turns out to be dead before the first byte of a response is replaced once, by a new
 * one, if the request may be sent twice (RFC 9112 9.3.1).
 */
export class Http1Stream implements UpstreamStream, RequestBodyEvents {
  readonly request: UpstreamRequest;
  readonly handler: UpstreamHandler;
  private readonly endpoint: UpstreamEndpoint;
  private readonly context: ConnectionContext;
  private head = "";
  private connection: Http1Connection | undefined = undefined;
  private writer: RequestBodyWriter | undefined = undefined;
  private reused = false;
  private requestSent = false;
  /** True until `start` has returned. */
  private starting = true;
  private ended = false;
  private aborted = false;

  constructor(
    endpoint: UpstreamEndpoint,
    request: UpstreamRequest,
    handler: UpstreamHandler,
    context: ConnectionContext,
  ) {
    this.endpoint = endpoint;
    this.request = request;
    this.handler = handler;
    this.context = context;
  }

  /** Starts the request. The handler receives its final event only after this has returned. */
  start(): void {
    const head = renderRequestHead(this.request);
    if (head.ok) {
      this.head = head.value;
      const { method, body, upgrade, closes } = this.request;
      const onlyOnce = body !== null || !isIdempotent(method);
      const mayReuse = upgrade === undefined && closes !== true;
      const pooled = mayReuse ? this.context.pool.take(this.endpoint, onlyOnce) : undefined;
      if (pooled === undefined) this.connect();
      else this.transmit(pooled, true);
    } else {
      this.end(upstreamError("invalid", head.error, { requestSent: false }));
    }
    this.starting = false;
  }

  /** Whether the whole request has been sent to the upstream. */
  get requestComplete(): boolean {
    return this.writer === undefined || this.writer.complete;
  }

  private connect(): void {
    this.reused = false;
    if (this.context.closed) return this.end(proxyClosed);
    this.connection = new Http1Connection(this.endpoint, this.context);
    this.connection.open(this);
  }

  connected(connection: Http1Connection): void {
    this.transmit(connection, false);
  }

  connectFailed(error: UpstreamError): void {
    this.end(error);
  }

  private transmit(connection: Http1Connection, reused: boolean): void {
    const { request } = this;
    this.connection = connection;
    this.reused = reused;
    const transport = connection.begin(this, request.method === "HEAD");
    this.handler.onConnection(reused);
    if (this.ended) return;
    this.requestSent = true;
    if (request.body === null) {
      transport.writeText(this.head);
    } else {
      this.writer = new RequestBodyWriter(transport, this.head, request.body, this);
      this.writer.start({ expectContinue: request.expectContinue });
    }
  }

  informational(status: number, headers: HeaderList): void {
    this.handler.onInformational(status, headers);
    if (status === 100) this.writer?.proceed();
  }

  finalHead(head: ResponseHead, keepAlive: boolean): void {
    this.handler.onHead(head);
    const { writer } = this;
    if (this.ended || writer === undefined || writer.complete) return;
    // If the response closes the connection, the rest of the request would only provoke a reset that can overtake
    // the response (RFC 9112 9.5).
    if (head.status >= 400 && !keepAlive) writer.stop();
    else writer.proceed();
  }

  complete(trailers: HeaderList | undefined): void {
    this.finish();
    this.handler.onEnd(trailers);
  }

  upgraded(headers: Fields, end: TunnelEnd): void {
    const { requestComplete } = this;
    if (requestComplete) {
      this.finish();
      this.handler.onUpgrade(headers, end);
    } else {
      end.transport.destroy();
      this.invalid("unexpected upgrade");
    }
  }

  drained(): void {
    this.writer?.drained();
  }

  invalid(text: string): void {
    this.end(upstreamError("invalid", text, { requestSent: true }));
  }

  /** The connection was lost; `answered` is true if a byte of the response had arrived. */
  lost({ kind, text }: Pick<UpstreamError, "kind" | "text">, answered: boolean): void {
    if (this.reused && !answered && this.replayable()) {
      this.takeBack();
      this.connect();
    } else {
      this.end(upstreamError(kind, text, { requestSent: this.requestSent }));
    }
  }

  /** Reports whether the request may be sent twice, and whether its body can be. */
  private replayable(): boolean {
    const { method, body } = this.request;
    return isIdempotent(method) && (body === null || !body.started || body.restartable === true);
  }

  /** Resets the state to before the request was sent. */
  private takeBack(): void {
    const { body } = this.request;
    this.writer?.stop();
    if (body?.started === true) body.restart?.();
  }

  onBodyFailed(text: string): void {
    this.connection?.destroy();
    this.end(upstreamError("request-body", text, { requestSent: true }));
  }

  resume(): void {
    if (!this.ended) this.connection?.resume();
  }

  abort(): void {
    this.aborted = true;
    if (this.ended) return;
    const { connection } = this;
    this.finish();
    connection?.destroy();
  }

  private end(error: UpstreamError): void {
    if (this.ended) return;
    this.finish();
    if (!this.starting) this.handler.onError(error);
    else
      process.nextTick(() => {
        if (!this.aborted) this.handler.onError(error);
      });
  }

  private finish(): void {
    this.ended = true;
    this.writer?.stop();
    this.connection = undefined;
  }
}
