import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { MirrorPlan, MirrorUrl } from "../exchange/filter.ts";
import { hostOf } from "../message/authority.ts";
import { keptFields } from "../message/field-list.ts";
import { Fields } from "../message/fields.ts";
import type { HeaderList, ReadonlyHeaderList, ResponseHead } from "../message/message.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import { type Observer, observerOf } from "../exchange/observer.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import { reasonOfUpstream, type UpstreamError } from "../upstream/upstream-errors.ts";
import { sendSelected } from "../upstream/send-selected.ts";
import type { Selection, UpstreamHandler, UpstreamStream, UpstreamClient } from "../upstream/upstream.ts";
import { accessRecordOf } from "./access-record.ts";
import type { BodyMemory } from "./held-body.ts";
import { MirrorBody } from "./mirror-body.ts";
import type { OutgoingBody } from "./outgoing-body.ts";
import { AttemptNote } from "./upstream-notes.ts";
import { upstreamRequestOf } from "./upstream-request.ts";

/** The time limit of a copy in milliseconds, from its start to the end of its response. */
const timeoutMs = 5000;

/** Credentials, which a mirror does not need and must not see. */
const credentials = new Set(["authorization", "cookie", "proxy-authorization"]);

/** The state that all copies of a worker share. */
export type MirrorOwner = {
  readonly deps: MirrorDependencies;
  readonly memory: BodyMemory;
  /** Called by each copy once, when it has ended. */
  ended(): void;
  countLimit(limit: "mirror-requests" | "mirror-body"): void;
  /** Logs a failure, or only counts it if another was logged within the last second. */
  warn(exchange: Exchange, upstream: string, reason: string): void;
};

/** One copy of a request, sent to one endpoint of a mirror; its response is discarded. */
export class MirrorRequest implements UpstreamHandler {
  private readonly mirrors: MirrorOwner;
  private readonly exchange: Exchange;
  private readonly plan: MirrorPlan;
  private readonly startedAtMs = performance.now();
  private selection: Selection | undefined = undefined;
  private address = "";
  private status = 0;
  private body: MirrorBody | null = null;
  private stream: Pick<UpstreamStream, "abort"> | undefined = undefined;
  private timer: AwakeTimer | undefined = undefined;
  /** Set if the log shows the times of attempts. */
  private note: AttemptNote | undefined = undefined;
  private done = false;

  constructor(mirrors: MirrorOwner, exchange: Exchange, plan: MirrorPlan) {
    this.mirrors = mirrors;
    this.exchange = exchange;
    this.plan = plan;
  }

  /** Sends the copy; returns false if there is neither a host of the gateway nor an endpoint to send it to. */
  start(original: OutgoingBody | null): boolean {
    return this.startToHost(original) || this.startToEndpoint(original);
  }

  private startToHost(original: OutgoingBody | null): boolean {
    const { exchange, plan } = this;
    const { url } = plan;
    if (url?.sendToHost === undefined) return false;
    const body = url.withoutBody || original === null ? null : new MirrorBody(this.mirrors.memory);
    const headers = withoutHost(withoutCredentials(exchange.headers));
    const call = url.sendToHost(exchange, { headers, body, timeoutMs });
    if (call === undefined) return false;
    if (body !== null) original?.tap(body);
    this.body = body;
    void call.answer.then((answer) => {
      this.status = answer?.status ?? (call.hasTimedOut === true ? 504 : 502);
      if (answer !== undefined) this.onEnd();
      else if (call.hasTimedOut === true) this.end("mirror timeout", "mirror-timeout");
      else this.end("no answer", "mirror-no-answer");
    });
    return true;
  }

  private startToEndpoint(original: OutgoingBody | null): boolean {
    const { exchange, plan, mirrors } = this;
    const { url } = plan;
    const upstream = plan.upstream?.();
    const selection = upstream?.pick(exchange);
    if (upstream === undefined || selection === undefined) return false;
    this.selection = selection;
    this.address = selection.endpoint.address;
    if (exchange.notes !== undefined) {
      this.note = new AttemptNote(selection.endpoint, upstream.protocol, "");
    }
    if (original !== null && url?.withoutBody !== true) {
      this.body = new MirrorBody(mirrors.memory);
      original.tap(this.body);
    }
    this.timer = new AwakeTimer(() => this.expire(), timeoutMs);
    const request = upstreamRequestOf(exchange, upstream, {
      headers: Fields.of(withoutCredentials(exchange.headers)),
      body: this.body,
      upgrade: undefined,
      expectContinue: false,
    });
    this.stream = sendSelected(
      mirrors.deps.client,
      selection,
      url === undefined ? request : { ...request, ...addressOf(url, exchange) },
      this,
    );
    return true;
  }

  private expire(): void {
    if (this.status === 0) this.selection?.watch?.failed();
    this.stream?.abort();
    this.status = 504;
    this.end("mirror timeout", "mirror-timeout");
  }

  onConnection(reused: boolean): void {
    this.note?.connected(reused);
  }

  onInformational(): void {}

  onHead(head: ResponseHead): void {
    this.status = head.status;
    this.note?.answered(head.status);
  }

  onData(): boolean {
    return true;
  }

  onEnd(): void {
    if (this.body?.incomplete !== true) this.end();
    else this.end("mirror too slow for the request body", "mirror-body");
  }

  onUpgrade(_headers: Fields, { transport }: TunnelEnd): void {
    transport.destroy();
    this.end("unexpected upgrade", "mirror-upgrade");
  }

  onError({ kind, text }: UpstreamError): void {
    const abandoned = kind === "request-body";
    if (this.status === 0) this.status = abandoned ? 499 : 502;
    this.end(text, reasonOfUpstream({ kind, text }), abandoned);
  }

  private end(error?: string, reason?: RefusalCode, isBlameless = false): void {
    if (this.done) return;
    this.done = true;
    this.timer?.clear();
    const { mirrors, exchange, plan } = this;
    this.body?.release();
    mirrors.ended();
    if (this.body?.incomplete === true) mirrors.countLimit("mirror-body");
    if (error !== undefined && !isBlameless) mirrors.warn(exchange, plan.service, error);
    const { route, connection } = exchange;
    const { accessLog } = observerOf(route, connection.listener, mirrors.deps.observer);
    if (!accessLog.enabled || route?.accessLog === false) return;
    const durationMs = Math.round(performance.now() - this.startedAtMs);
    const ofOriginal = accessRecordOf(exchange, accessLog, durationMs);
    accessLog.write({
      ...ofOriginal,
      details: ofOriginal.details && {
        ...ofOriginal.details,
        connectMs: this.note?.connectMs,
        firstByteMs: this.note?.firstByteMs,
        attemptMs: this.note?.durationMs,
      },
      status: this.status,
      upstream: plan.service,
      upstreamAddr: this.address,
      bytesSent: 0,
      mirror: true,
      attempts: 1,
      ...(error !== undefined && reason !== undefined && { error, reason }),
    });
  }
}

const withoutCredentials = (headers: Fields): HeaderList =>
  headers.kept((name) => !credentials.has(name.toLowerCase()));

const withoutHost = (headers: ReadonlyHeaderList): HeaderList =>
  keptFields(headers, (name) => name.toLowerCase() !== "host");

/** Returns target and authority of a copy. Parts of the host can come from the client; an invalid host is not used. */
function addressOf(
  { authorityOf, targetOf }: MirrorUrl,
  exchange: Exchange,
): { readonly target: string; readonly authority?: string } {
  const authority = authorityOf(exchange);
  return { target: targetOf(exchange), ...(hostOf(authority) !== undefined && { authority }) };
}

export type MirrorDependencies = {
  readonly client: UpstreamClient;
  readonly observer: Observer;
  readonly metrics: Pick<ProxyMetrics, "mirrorRequests" | "limitsReached">;
  readonly log: Logger;
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};
