import type { RefusalCode, RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { Cancellable, Exchange } from "../exchange/exchange.ts";
import type { BodyTransform } from "../exchange/filter.ts";
import type { Fields } from "../message/fields.ts";
import type { BodySink, Chunk, HeaderList, ResponseHead } from "../message/message.ts";
import { relayedResponseTrailers } from "../message/trailers.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import { awake } from "../timing/awake-clock.ts";
import { realNowMs } from "../timing/real-clock.ts";
import { sendSelected } from "../upstream/send-selected.ts";
import type { UpstreamError } from "../upstream/upstream-errors.ts";
import type { Selection, Upstream, UpstreamHandler, UpstreamStream } from "../upstream/upstream.ts";
import { countFailure, countRetry, failureOf } from "./attempt-failures.ts";
import type { AttemptOwner } from "./attempt-owner.ts";
import { AttemptTimes } from "./attempt-times.ts";
import { tunnelFor } from "./attempt-tunnel.ts";
import { insteadOverHttp2 } from "./http2-response.ts";
import { applyResponseFilters, transformBody } from "./response-filters.ts";
import { upstreamRequestOf } from "./upstream-request.ts";

/**
 * One try to have a request answered by one endpoint: sends the request, relays the response, and turns failures
 * into the statuses of docs/features/errors.md.
 */
export class Attempt implements UpstreamHandler, Cancellable {
  private readonly owner: AttemptOwner;
  private readonly exchange: Exchange;
  private readonly upstream: Upstream;
  private readonly selection: Selection;
  private stream: UpstreamStream | undefined = undefined;
  /** Set while a filter transforms the response body. */
  private transform: BodyTransform | undefined = undefined;
  /** Set if the route limits the attempt, or the log or the trace shows it. */
  private times: AttemptTimes | undefined = undefined;
  private hasTimedOut = false;
  /** True once another attempt has replaced this one, or it was cancelled: later events are ignored. */
  private discarded = false;
  private readonly startedAtMs: number;

  constructor(owner: AttemptOwner, upstream: Upstream, selection: Selection) {
    const { exchange } = owner;
    this.owner = owner;
    this.exchange = exchange;
    this.upstream = upstream;
    this.selection = selection;
    exchange.attempts++;
    this.startedAtMs = exchange.attempts === 1 && !exchange.hasWaited ? exchange.startedAtMs : realNowMs();
  }

  start(): void {
    const { exchange, selection, upstream } = this;
    const { body, deps } = this.owner;
    exchange.upstreamAddress = selection.endpoint.address;
    if (exchange.notes !== undefined || exchange.upstreamTimeouts !== undefined) this.beginTimes();
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

  private beginTimes(): void {
    const { notes, trace, headers, upstreamTimeouts } = this.exchange;
    const { body, deps } = this.owner;
    // The spans of the backend are children of the span of this attempt if the request is sampled.
    const spanId = notes !== undefined && trace?.isSampled === true ? trace.injectAttempt(headers) : "";
    const note = notes?.begin(this.selection.endpoint, this.upstream.protocol, spanId);
    this.times = new AttemptTimes(upstreamTimeouts, note, (error) => this.expired(error), deps.gapSweep);
    if (upstreamTimeouts !== undefined) this.exchange.gaps = this.times.gaps;
    if (body !== null) this.times.follow(body);
  }

  private expired(error: RefusalError): void {
    this.times?.failed("timeout", error);
    this.countTimeout();
    if (this.owner.retries?.afterTimeout() === true) this.discard();
    else this.exchange.expire(error);
  }

  cancel(timedOut?: boolean): void {
    const isSent = this.owner.body?.ended !== false;
    if (timedOut === true) {
      this.times?.failed("timeout", "request timeout");
      if (isSent) this.countTimeout();
    }
    // Another attempt may follow for an error page, so late events of this one must not count.
    this.discarded = true;
    this.times?.stop();
    this.stream?.abort();
    this.transform?.cancel();
  }

  /**
   * Gives up this attempt in favour of another one. Data that has already arrived is still read, so that the connection
   * of a small response can be reused; the rest is not awaited. A connection that has not received the whole request
   * cannot be reused, and must not start the body, which belongs to the next attempt.
   */
  private discard(): void {
    this.discarded = true;
    this.times?.stop();
    if (this.owner.body?.ended === false) return this.stream?.abort();
    process.nextTick(() => this.stream?.abort());
  }

  private progress(): void {
    this.exchange.lastActivityMs = awake.nowMs;
  }

  onConnection(reused: boolean): void {
    const { exchange } = this;
    if (!this.discarded) exchange.upstreamConnection = reused ? "reused" : "new";
    if (!reused) exchange.routeMetrics?.connected((realNowMs() - this.startedAtMs) / 1000);
    this.times?.connected(reused, this.owner.body !== null);
  }

  onRefused(): void {
    const { exchange, deps } = this.owner;
    if (this.discarded) return;
    exchange.attempts++;
    countRetry(exchange, deps.metrics, "refused-stream");
  }

  onInformational(status: number, headers: HeaderList): void {
    const { exchange } = this;
    if (exchange.finished || this.discarded) return;
    this.times?.informed();
    if (status === 100) {
      const { body } = this.owner;
      // The client has received a 100 and is sending: from the proxy, or over a connection that was replaced.
      if (exchange.expectContinue && body?.awaitsContinue === false) return;
      body?.continued();
    } else this.settle();
    exchange.client.sendInformational(status, headers);
  }

  onHead(head: ResponseHead): void {
    const { exchange } = this;
    if (exchange.finished || this.discarded) return;
    this.times?.answered(head.status);
    if (head.status >= 500) this.count("5xx");
    const nowMs = realNowMs();
    exchange.lastActivityMs = awake.at(nowMs);
    exchange.routeMetrics?.responded((nowMs - this.startedAtMs) / 1000);
    const { retries, body } = this.owner;
    if (retries?.afterResponse(head) === true) return this.discard();
    if (exchange.errorPages !== undefined && this.owner.intercepts(head)) return this.discard();
    if (retries === undefined) body?.forget();
    else exchange.client.onHeadSent = () => retries.settle();
    exchange.status = head.status;
    this.complement(head);
    const instead = insteadOverHttp2(exchange, head);
    if (instead !== undefined) {
      this.count("other");
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

  /** Makes this attempt the last one, because a response is on its way to the client. */
  private settle(): void {
    const { retries, body } = this.owner;
    if (retries === undefined) body?.forget();
    else retries.settle();
  }

  /** Adds the session cookie of the balancer to the head of the response, and runs the response filters. */
  private complement(head: ResponseHead): void {
    this.exchange.rewriteUpstreamFields?.(head.headers);
    const { setCookie } = this.selection;
    if (setCookie !== undefined) head.headers.append("Set-Cookie", setCookie);
    applyResponseFilters(this.exchange, head);
  }

  resume(): void {
    this.times?.resumed();
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

  /** Withdraws a response of which nothing has been sent, so that the client can get another one. */
  private takeBack(): void {
    const { client } = this.exchange;
    client.takeBack();
    client.onHeadSent = null;
    this.exchange.status = 0;
    this.transform?.cancel();
    this.transform = undefined;
  }

  /** Ends a response that has begun and cannot be completed: with 502 if nothing was sent, otherwise by aborting it. */
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
    // Set only when needed, because nearly every client accepts a whole response immediately.
    if (!more) client.onDrain ??= () => this.resume();
    this.times?.received(more);
    return more;
  }

  /** The bytes held for the client; undefined (unknown) while a filter transforms the response body. */
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
    this.times?.read();
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
    this.times?.stop();
    this.exchange.client.end(trailers);
    this.exchange.finish();
  }

  onUpgrade(headers: Fields, upstream: TunnelEnd): void {
    this.times?.upgraded();
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
    exchange.work = tunnelFor(exchange, { client, upstream }, this.times, this.owner.deps.responseMemory);
  }

  onError(error: UpstreamError): void {
    this.times?.failed(error.kind, error.text);
    this.times?.stop();
    const { exchange } = this;
    if (exchange.finished || this.discarded) return;
    const { reply, type } = failureOf(error, exchange, this.owner.body);
    if (type !== undefined) this.count(type);
    if (exchange.client.headSent) return this.fail(error.text, reply.reason ?? "upstream-invalid");
    this.takeBack();
    if (this.owner.retries?.afterError(error) === true) this.discarded = true;
    else this.owner.reply(reply);
  }

  /** Counts an upstream timeout, at most once per attempt even if several limits are exceeded. */
  private countTimeout(): void {
    if (this.hasTimedOut) return;
    this.hasTimedOut = true;
    this.count("timeout");
    this.selection.watch?.failed();
  }

  private count(type: Parameters<typeof countFailure>[2]): void {
    countFailure(this.exchange, this.owner.deps.metrics, type);
  }
}
