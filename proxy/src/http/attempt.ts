import type { RefusalCode, RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { Cancellable, Exchange } from "../exchange/exchange.ts";
import type { BodyTransform } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { Fields } from "../message/fields.ts";
import type { BodySink, Chunk, HeaderList, ResponseHead } from "../message/message.ts";
import { relayedResponseTrailers } from "../message/trailers.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import { joinTunnel } from "../sockets/tunnel.ts";
import { awake } from "../timing/awake-clock.ts";
import { realNowMs } from "../timing/real-clock.ts";
import { sendSelected } from "../upstream/send-selected.ts";
import { reasonOfUpstream, type UpstreamError } from "../upstream/upstream-errors.ts";
import type { Selection, Upstream, UpstreamHandler } from "../upstream/upstream.ts";
import type { UpstreamStream } from "../upstream/upstream.ts";
import type { AttemptOwner } from "./attempt-owner.ts";
import { insteadOverHttp2 } from "./http2-response.ts";
import { unreadBody } from "./refusals.ts";
import { applyResponseFilters, transformBody } from "./response-filters.ts";
import { UpstreamGaps } from "./upstream-gaps.ts";
import type { AttemptNote, UpstreamNotes } from "./upstream-notes.ts";
import { upstreamRequestOf } from "./upstream-request.ts";
import { UpstreamTimer, type UpstreamTimeouts } from "./upstream-timer.ts";

/**
 * One try to have a request answered by one endpoint: sends the request, relays the response, and turns failures
 * into the statuses of docs/features/errors.md.
 */
export class Attempt implements UpstreamHandler, Cancellable {
  private readonly owner: AttemptOwner;
  private readonly exchange: Exchange;
  private selection: Selection | undefined = undefined;
  private stream: UpstreamStream | undefined = undefined;
  /** Set while a filter transforms the response body. */
  private transform: BodyTransform | undefined = undefined;
  /** Set on routes that limit the time of their upstreams. */
  private timer: UpstreamTimer | undefined = undefined;
  /** Set on routes that limit the gaps between reads and writes. */
  private gaps: UpstreamGaps | undefined = undefined;
  /** Set where the log or the trace shows attempts. */
  private note: AttemptNote | undefined = undefined;
  private hasTimedOut = false;
  /** True once another attempt has taken over: events of this one are ignored. */
  private discarded = false;
  private startedAtMs = 0;

  constructor(owner: AttemptOwner) {
    this.owner = owner;
    this.exchange = owner.exchange;
  }

  start(upstream: Upstream, selection: Selection): void {
    const { exchange } = this;
    const { body, deps } = this.owner;
    exchange.attempts++;
    this.startedAtMs = exchange.attempts === 1 && !exchange.hasWaited ? exchange.startedAtMs : realNowMs();
    exchange.upstreamAddress = selection.endpoint.address;
    this.selection = selection;
    if (exchange.notes !== undefined) this.beginNote(exchange.notes, upstream, selection);
    if (exchange.upstreamTimeouts !== undefined) this.startTiming(exchange.upstreamTimeouts);
    exchange.client.onDrain = null;
    exchange.work = this;
    this.stream = sendSelected(
      deps.client,
      selection,
      upstreamRequestOf(exchange, upstream, {
        headers: exchange.headers,
        body,
        upgrade: exchange.upgrade,
        expectContinue: body !== null && body.awaitsContinue,
      }),
      this,
    );
    if (exchange.finished) this.stream.abort();
  }

  /** The backend belongs to the span of this attempt, where the request is sampled. */
  private beginNote(notes: UpstreamNotes, { protocol }: Upstream, { endpoint }: Selection): void {
    const { trace, headers } = this.exchange;
    const spanId = trace?.isSampled === true ? trace.injectAttempt(headers) : "";
    this.note = notes.begin(endpoint, protocol, spanId);
  }

  private startTiming(limits: UpstreamTimeouts): void {
    const timer = new UpstreamTimer(limits, (error) => this.expired(error));
    const gaps =
      limits.readGapMs === undefined && limits.sendGapMs === undefined
        ? undefined
        : new UpstreamGaps(limits, (error) => this.expired(error), this.owner.deps.gapSweep);
    this.timer = timer;
    this.gaps = gaps;
    this.exchange.gaps = gaps;
    const { body } = this.owner;
    if (body === null) return;
    body.onEnded = () => {
      timer.requestSent();
      gaps?.requestSent();
    };
    if (gaps !== undefined) body.onPace = (isBlocked) => gaps.blocked(isBlocked);
  }

  private stopTiming(): void {
    this.timer?.stop();
    this.gaps?.stop();
    this.note?.ended();
  }

  private expired(error: RefusalError): void {
    this.note?.failed("timeout", error);
    this.countTimeout();
    if (this.owner.retries?.afterTimeout() === true) this.discard();
    else this.exchange.owner?.expire(error);
  }

  cancel(timedOut?: boolean): void {
    const isSent = this.owner.body?.ended !== false;
    if (timedOut === true) {
      this.note?.failed("timeout", "request timeout");
      if (isSent) this.countTimeout();
    }
    // Another attempt may follow for an error page, so late events of this one must not count.
    this.discarded = true;
    this.stopTiming();
    this.stream?.abort();
    this.transform?.cancel();
  }

  /**
   * Leaves the client to another attempt. Data that has already arrived is still read, so that the connection of a small
   * response is kept; the rest is not waited for.
   */
  private discard(): void {
    this.discarded = true;
    this.stopTiming();
    process.nextTick(() => this.stream?.abort());
  }

  private progress(): void {
    this.exchange.lastActivityMs = awake.nowMs;
  }

  onConnection(reused: boolean): void {
    if (!this.discarded) this.exchange.upstreamConnection = reused ? "reused" : "new";
    if (!reused) this.exchange.routeMetrics?.connected((realNowMs() - this.startedAtMs) / 1000);
    this.note?.connected(reused);
    const hasBody = this.owner.body !== null;
    this.timer?.connected(hasBody);
    this.gaps?.connected(hasBody);
  }

  onRefused(): void {
    const { exchange, deps } = this.owner;
    if (this.discarded) return;
    exchange.attempts++;
    deps.metrics.upstreamRetries
      .with({
        listener: exchange.connection.listener.portLabel,
        route: exchange.route?.id ?? "",
        upstream: exchange.upstreamService,
        condition: "refused-stream",
      })
      .inc();
  }

  onInformational(status: number, headers: HeaderList): void {
    const { exchange } = this;
    if (exchange.finished || this.discarded) return;
    this.gaps?.informed();
    if (status === 100) this.owner.body?.continued();
    else this.settle();
    exchange.client.sendInformational(status, headers);
  }

  onHead(head: ResponseHead): void {
    const { exchange } = this;
    if (exchange.finished || this.discarded) return;
    this.timer?.responseBegan();
    this.note?.answered(head.status);
    this.gaps?.received(true);
    if (head.status >= 500) this.countError("5xx");
    const nowMs = realNowMs();
    exchange.lastActivityMs = awake.at(nowMs);
    exchange.routeMetrics?.responded((nowMs - this.startedAtMs) / 1000);
    const { retries } = this.owner;
    if (retries?.afterResponse(head) === true) return this.discard();
    if (exchange.errorPages !== undefined && this.owner.intercepts(head)) return this.discard();
    if (retries !== undefined) {
      exchange.client.onHeadSent = () => retries.settle();
    } else this.owner.body?.forget();
    exchange.status = head.status;
    this.complement(head);
    const instead = insteadOverHttp2(exchange, head);
    if (instead !== undefined) {
      this.countError("other");
      this.cancel();
      return this.owner.reply(instead);
    }
    this.transform = transformBody(exchange, head, this);
    if (this.transform !== undefined) {
      // Its output may come later.
      head.isWhole = false;
      exchange.client.onDrain = () => this.transform?.resume();
    }
    exchange.client.sendHead(head);
  }

  /** A response is on its way to the client, so this attempt is the last. */
  private settle(): void {
    const { retries, body } = this.owner;
    if (retries === undefined) body?.forget();
    else retries.settle();
  }

  /** Adds the session cookie of the balancer to the head of the response, and runs the response filters. */
  private complement(head: ResponseHead): void {
    this.exchange.rewriteUpstreamFields?.(head.headers);
    const setCookie = this.selection?.setCookie;
    if (setCookie !== undefined) head.headers.append("Set-Cookie", setCookie);
    applyResponseFilters(this.exchange, head);
  }

  resume(): void {
    this.gaps?.resumed();
    this.stream?.resume();
  }

  /** The client's side, as the sink of a transformation. */
  clientSink(): BodySink {
    const { exchange } = this;
    return {
      onData: (chunk) => {
        this.progress();
        return exchange.finished || exchange.client.write(chunk);
      },
      onEnd: (trailers) => {
        if (!exchange.finished) this.complete(trailers);
      },
      onAbort: () => this.fail("response transformation failed", "transformation-failed"),
    };
  }

  /** Withdraws a response of which nothing has left, so that the client gets another one. */
  private takeBack(): void {
    const { client } = this.exchange;
    client.takeBack();
    client.onHeadSent = null;
    this.exchange.status = 0;
    this.transform?.cancel();
    this.transform = undefined;
  }

  /** Ends a response that was begun and cannot be completed. */
  private fail(error: string, reason: RefusalCode): void {
    const { exchange } = this;
    if (exchange.finished) return;
    exchange.error = error;
    exchange.reason = reason;
    this.cancel();
    if (!exchange.client.headSent) {
      this.takeBack();
      return this.owner.reply({ status: 502, error, reason });
    }
    exchange.client.abort();
    exchange.finish();
  }

  onData(chunk: Chunk): boolean {
    const { exchange } = this;
    if (exchange.finished) return false;
    if (this.discarded) return true;
    this.progress();
    const { client } = exchange;
    const more = this.transform === undefined ? client.write(chunk) : this.transform.onData(chunk);
    // Nearly every client takes all of a response at once.
    if (!more) client.onDrain ??= () => this.resume();
    this.gaps?.received(more);
    return more;
  }

  /** Unknown while a filter transforms the body between the upstream and the client. */
  get pendingBytes(): number | undefined {
    return this.transform === undefined ? this.exchange.client.pendingBytes : undefined;
  }

  get copies(): boolean | "lent" {
    return this.transform === undefined && (this.exchange.client.copies ?? false);
  }

  get roomBytes(): number | undefined {
    return this.transform === undefined ? this.exchange.client.roomBytes : undefined;
  }

  onEnd(trailers: HeaderList | undefined): void {
    const { exchange, transform } = this;
    if (exchange.finished || this.discarded) return;
    this.gaps?.stop();
    const relayed =
      trailers &&
      relayedResponseTrailers(trailers, exchange.ownedResponseFields, {
        grpc: exchange.grpc,
        transformed: transform !== undefined,
      });
    if (transform === undefined) this.complete(relayed);
    else transform.onEnd(relayed);
  }

  private complete(trailers: HeaderList | undefined): void {
    this.stopTiming();
    this.exchange.client.end(trailers);
    this.exchange.finish();
  }

  onUpgrade(headers: Fields, upstream: TunnelEnd): void {
    this.timer?.stop();
    this.note?.answered(101);
    const { exchange } = this;
    const isOver = exchange.finished || this.discarded;
    const answer = { status: 101, headers, length: undefined, bodyless: true };
    if (!isOver) this.complement(answer);
    const client = isOver ? undefined : exchange.client.upgrade(answer.headers);
    if (client === undefined) {
      upstream.transport.destroy();
      if (!isOver) this.owner.reply({ status: 502, error: "upgrade not possible" });
      return;
    }
    exchange.status = 101;
    this.progress();
    this.gaps?.relayed();
    exchange.work = joinTunnel(
      client,
      upstream,
      {
        isWebSocket: true,
        onProgress: (clientBytes, upstreamBytes) => {
          exchange.tunnelBytesSent += clientBytes;
          exchange.bytesReceived += upstreamBytes;
          this.progress();
          this.gaps?.relayed();
        },
        onEnd: () => {
          this.note?.ended();
          exchange.finish();
        },
      },
      this.owner.deps.responseMemory,
    );
  }

  onError(error: UpstreamError): void {
    this.note?.failed(error.kind, error.text);
    this.stopTiming();
    const { exchange } = this;
    if (exchange.finished || this.discarded) return;
    const reply = this.replyTo(error);
    if (exchange.client.headSent) return this.fail(error.text, reply.reason ?? "upstream-invalid");
    this.takeBack();
    if (this.owner.retries?.afterError(error) === true) this.discarded = true;
    else this.owner.reply(reply);
  }

  private replyTo(error: UpstreamError): LocalReply {
    const cause = { error: error.text, reason: reasonOfUpstream(error) };
    switch (error.kind) {
      case "request-body":
        return unreadBody(this.owner.body?.abortReason);
      case "timeout":
        this.countError("timeout");
        return { status: 504, ...cause };
      case "connect-timeout":
        this.countError("timeout");
        return { status: this.exchange.upstreamTimeouts?.connectTimeoutStatus ?? 502, ...cause };
      case "refused":
      case "connect":
      case "tls":
        this.countError(error.kind);
        return { status: 502, ...cause };
      case "own-port":
        this.countError("other");
        return { status: 503, ...cause };
      case "reset":
      case "invalid":
        this.countError("other");
        return { status: 502, ...cause };
    }
  }

  /** Counts an upstream that took too long, once for all limits. */
  private countTimeout(): void {
    if (this.hasTimedOut) return;
    this.hasTimedOut = true;
    this.countError("timeout");
    this.selection?.watch?.failed();
  }

  private countError(type: "refused" | "connect" | "timeout" | "tls" | "5xx" | "other"): void {
    const { connection, route, upstreamService: upstream } = this.exchange;
    const labels = { listener: connection.listener.portLabel, route: route?.id ?? "", upstream };
    this.owner.deps.metrics.upstreamErrors.with({ ...labels, error_type: type }).inc();
  }
}
