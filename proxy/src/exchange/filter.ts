import type { Retry } from "@svc-gateway/common/features/retry.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { BodySink, HeaderList, RequestBody, ResponseHead } from "../message/message.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { Exchange } from "./exchange.ts";

/** The two sides of a body transformation. */
export type BodyEnds = {
  readonly client: BodySink;
  readonly upstream: { resume(): void };
};

/** Receives the body of an upstream and passes a changed one on. */
export type BodyTransform = BodySink & {
  /** Called when the client can accept more. */
  resume(): void;
  /** Called when the output is no longer needed; frees the memory held. */
  cancel(): void;
};

/**
 * One feature on one route, built once when a snapshot is applied. A filter is synchronous unless it must wait;
 * filters run in the order of filters/order.ts, and so do response hooks.
 */
export type Filter = {
  readonly slug: string;
  /**
   * Names of request fields that this filter alone controls: a client cannot send them as trailers either
   * (docs/features/forwarding.md, "Bodies and trailers").
   */
  readonly ownedFields?: readonly string[];
  /** Names of response fields that this filter alone controls: an upstream cannot send them as trailers. */
  readonly ownedResponseFields?: readonly string[];
  /** Returns a reply to answer the request itself, or undefined to let it continue. */
  readonly onRequest?: (exchange: Exchange) => LocalReply | undefined | Promise<LocalReply | undefined>;
  /**
   * The part of this check that no other one replaces and that stays in its place, before the others; `onRequest`
   * includes it (docs/features/satisfy.md).
   */
  readonly onEveryRequest?: (exchange: Exchange) => LocalReply | undefined;
  /**
   * The part of this check that runs although another check has admitted the request, after `onUnchecked` and
   * `onAdmitted`; `onRequest` includes it (docs/features/satisfy.md).
   */
  readonly requiredCheck?: Filter["onRequest"];
  /**
   * Removes what this check never accepts from the client: called for a request that another check has admitted
   * (docs/features/satisfy.md), and for a refused one whose error a Service answers (docs/features/error-pages.md).
   */
  readonly onUnchecked?: (exchange: Exchange) => void;
  /**
   * Withholds from the backend what a later check may have had to read: called after another check has admitted the
   * request (docs/features/satisfy.md), and with `onUnchecked` for error pages.
   */
  readonly onAdmitted?: (exchange: Exchange) => void;
  /** Sees, and may change, the head of every response of the route, local replies included. */
  readonly onResponse?: (exchange: Exchange, head: ResponseHead) => void;
  /**
   * Returns a transformation to insert between an upstream's body and the client, or undefined to leave the body
   * unchanged. Called after all `onResponse` hooks; may change the head once more.
   */
  readonly transformBody?: (
    exchange: Exchange,
    head: ResponseHead,
    ends: BodyEnds,
  ) => BodyTransform | undefined;
};

/** The compiled conditions under which a request is sent again. */
export type RetryPlan = {
  /** Attempts after the first one. */
  readonly attempts: number;
  readonly codes: ReadonlySet<number>;
  readonly grpcCodes: ReadonlySet<number>;
  /** Shortest wait before each retry in milliseconds, 0 for none. */
  readonly backoffMs: number;
  /** See common/src/features/retry.ts; undefined for the failures in docs/features/retry.md. */
  readonly conditions: ReadonlySet<RetryCondition> | undefined;
  readonly everyMethod: boolean;
  /** No attempt begins later than this after the first one, in milliseconds. */
  readonly withinMs: number;
};

/** A failure without a response. */
export type RetryCondition = NonNullable<Retry["conditions"]>[number];

/** A destination of copies of requests. */
export type MirrorPlan = {
  /** `namespace/name` of the Service, or a host. */
  readonly service: string;
  /** Returns the current upstream; undefined if copies go only to a host that the gateway serves. */
  readonly upstream: (() => Upstream) | undefined;
  /** The share of requests that are copied, 0 to 1. */
  readonly share: number;
  /** The URL of copies; undefined if they keep the URL and body of the request. */
  readonly url: MirrorUrl | undefined;
};

/** The URL of copies, which replaces that of their request. */
export type MirrorUrl = {
  readonly authorityOf: (exchange: Exchange) => string;
  readonly targetOf: (exchange: Exchange) => string;
  readonly withoutBody: boolean;
  /** Sends a copy through the routes of the gateway; returns undefined if the gateway does not serve the host. */
  readonly sendToHost: ((exchange: Exchange, copy: HostCopy) => HostCopyCall | undefined) | undefined;
};

type HostCopy = {
  readonly headers: HeaderList;
  readonly body: RequestBody | null;
  readonly timeoutMs: number;
};

/** The pending answer of the host; it resolves to undefined if it does not arrive completely, or not in time. */
type HostCopyCall = {
  readonly answer: Promise<{ readonly status: number } | undefined>;
  readonly hasTimedOut?: boolean;
};

/** The errors that a Service answers instead of the proxy and of backends (docs/features/error-pages.md). */
export type ErrorPagePlan = {
  readonly codes: ReadonlySet<number>;
  /** Whether errors of backends are replaced, too. */
  readonly takesBackends: boolean;
  /** Returns the current upstream of the Service; undefined if the proxy answers with the status. */
  readonly page: (() => Upstream) | undefined;
  /** Returns the current upstream for requests whose backend has no endpoint; undefined if there is no such Service. */
  readonly standIn: (() => Upstream) | undefined;
  /** Fields sent to the Service in addition to those that describe the request. */
  readonly fields: HeaderList;
};
