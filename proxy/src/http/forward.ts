import type { Duplex } from "node:stream";
import type { Selection, Upstream, UpstreamError, UpstreamHandler } from "../upstream/upstream.ts";
import type { UpstreamStream } from "../upstream/upstream.ts";
import type { Cancellable, Exchange } from "./exchange.ts";
import type { LocalReply } from "./local-reply.ts";
import type { BodySink, Chunk, HeaderList, ResponseHead } from "./message.ts";
import type { PipelineDependencies } from "./pipeline.ts";
import { CountedBody } from "./request-body.ts";
import { withoutUnsafeTrailers } from "./trailers.ts";
import { joinTunnel } from "./tunnel.ts";
import { UpstreamTimer, type UpstreamTimeouts } from "./upstream-timer.ts";

/** Who answers the client when an upstream does not. */
type Replier = { reply(reply: LocalReply): void };

/**
 * One exchange on its way through one endpoint: hands the request over, relays the response, and turns failures
 * into the statuses of docs/features/errors.md.
 */
export class Forward implements UpstreamHandler, Cancellable {
  private readonly exchange: Exchange;
  private readonly deps: PipelineDependencies;
  private readonly owner: Replier;
  private body: CountedBody | null = null;
  private stream: UpstreamStream | undefined = undefined;
  /** Set while a filter transforms the response body. */
  private sink: BodySink | undefined = undefined;
  /** Set on routes that limit the time of their upstreams. */
  private timer: UpstreamTimer | undefined = undefined;

  constructor(exchange: Exchange, deps: PipelineDependencies, owner: Replier) {
    this.exchange = exchange;
    this.deps = deps;
    this.owner = owner;
  }

  start(upstream: Upstream, { endpoint }: Selection): void {
    const { exchange, deps } = this;
    const { client } = exchange;
    exchange.attempts++;
    exchange.upstreamAddress = endpoint.address;
    if (client.body !== null) {
      this.body = new CountedBody(client.body, client, {
        maxBytes: exchange.maxBodyBytes,
        expectContinue: exchange.expectContinue,
        onProgress: () => this.progress(),
      });
    }
    if (exchange.upstreamTimeouts !== undefined) this.startTiming(exchange.upstreamTimeouts);
    const http2 = upstream.protocol === "http2";
    client.onDrain = () => this.stream?.resume();
    exchange.work = this;
    this.stream = deps.client.send(
      endpoint,
      {
        protocol: upstream.protocol,
        method: exchange.method,
        target: exchange.path + exchange.query,
        authority: exchange.upstreamAuthority ?? exchange.authority,
        scheme: exchange.connection.listener.secure ? "https" : "http",
        headers: exchange.headers,
        body: this.body,
        upgrade: http2 ? undefined : exchange.upgrade,
        expectContinue: exchange.expectContinue,
      },
      this,
    );
    if (exchange.finished) this.stream.abort();
  }

  private startTiming(limits: UpstreamTimeouts): void {
    const timer = new UpstreamTimer(limits, (error) => {
      this.countError("timeout");
      this.exchange.owner?.expire(error);
    });
    this.timer = timer;
    if (this.body !== null) this.body.onEnded = () => timer.requestSent();
  }

  cancel(): void {
    this.timer?.stop();
    this.stream?.abort();
  }

  private progress(): void {
    this.exchange.lastActivityMs = performance.now();
  }

  onConnection(reused: boolean): void {
    const { upstreamConnections } = this.deps;
    (reused ? upstreamConnections.reused : upstreamConnections.opened).inc();
    this.timer?.connected(this.body !== null);
  }

  onInformational(status: number, headers: HeaderList): void {
    if (this.exchange.finished) return;
    if (status === 100) this.body?.continued();
    this.exchange.client.sendInformational(status, headers);
  }

  onHead(head: ResponseHead): void {
    const { exchange } = this;
    if (exchange.finished) return;
    this.timer?.stop();
    exchange.status = head.status;
    if (head.status >= 500) this.countError("5xx");
    this.progress();
    const filters = exchange.route?.filters;
    if (filters !== undefined && filters.length > 0) {
      for (const filter of filters) filter.onResponse?.(exchange, head);
      for (const filter of filters)
        this.sink = filter.transformBody?.(exchange, head, this.clientSink()) ?? this.sink;
    }
    exchange.client.sendHead(head);
  }

  private clientSink(): BodySink {
    if (this.sink !== undefined) return this.sink;
    const { exchange } = this;
    return {
      onData: (chunk) => exchange.client.write(chunk),
      onEnd: (trailers) => this.complete(trailers),
      onAbort: () => exchange.client.abort(),
    };
  }

  onData(chunk: Chunk): boolean {
    const { exchange } = this;
    if (exchange.finished) return false;
    this.progress();
    return this.sink === undefined ? exchange.client.write(chunk) : this.sink.onData(chunk);
  }

  /** Unknown as soon as a filter stands between the upstream and the client. */
  get pendingBytes(): number | undefined {
    return this.sink === undefined ? this.exchange.client.pendingBytes : undefined;
  }

  onEnd(trailers: HeaderList | undefined): void {
    if (this.exchange.finished) return;
    const safe = trailers === undefined ? undefined : withoutUnsafeTrailers(trailers);
    if (this.sink === undefined) this.complete(safe);
    else this.sink.onEnd(safe);
  }

  private complete(trailers: HeaderList | undefined): void {
    this.exchange.client.end(trailers);
    this.exchange.finish();
  }

  onUpgrade(headers: HeaderList, socket: Duplex, head: Buffer): void {
    this.timer?.stop();
    const { exchange } = this;
    const client = exchange.finished ? undefined : exchange.client.upgrade(headers);
    if (client === undefined) {
      socket.destroy();
      this.owner.reply({ status: 502, error: "upgrade not possible" });
      return;
    }
    exchange.status = 101;
    this.progress();
    const tunnel = joinTunnel(
      client,
      { socket, head },
      {
        onProgress: () => this.progress(),
        onEnd: () => exchange.finish(),
      },
    );
    exchange.work = tunnel;
  }

  onError(error: UpstreamError): void {
    this.timer?.stop();
    const { exchange } = this;
    if (exchange.finished) return;
    exchange.error = error.text;
    const reply = this.replyTo(error);
    if (exchange.client.headSent) {
      exchange.client.abort();
      exchange.finish();
      return;
    }
    this.owner.reply(reply);
  }

  private replyTo(error: UpstreamError): LocalReply {
    switch (error.kind) {
      case "request-body":
        return this.bodyReply();
      case "timeout":
        this.countError("timeout");
        return { status: 504, error: error.text };
      case "connect-timeout":
        this.countError("timeout");
        return { status: 502, error: error.text };
      case "refused":
      case "connect":
      case "tls":
        this.countError(error.kind);
        return { status: 502, error: error.text };
      case "reset":
      case "invalid":
        this.countError("other");
        return { status: 502, error: error.text };
    }
  }

  /** The request itself could not be read to its end. */
  private bodyReply(): LocalReply {
    switch (this.body?.abortReason) {
      case "timeout":
        return { status: 408, error: "request body timeout", close: true };
      case "too-large":
        return { status: 413, error: "request body too large", close: true };
      default:
        return { status: 400, error: "malformed request body", close: true };
    }
  }

  private countError(type: "refused" | "connect" | "timeout" | "tls" | "5xx" | "other"): void {
    const { exchange, deps } = this;
    const labels = {
      listener: exchange.connection.listener.portLabel,
      route: exchange.route?.id ?? "",
      upstream: exchange.upstreamService,
      error_type: type,
    };
    deps.metrics.upstreamErrors.with(labels).inc();
  }
}
