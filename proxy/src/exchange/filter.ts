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
  /** The client can take more. */
  resume(): void;
  /** Nothing more is wanted: frees what is held. */
  cancel(): void;
};

/**
 * One feature on one route, built once when a snapshot is applied. A filter is synchronous unless it must wait;
 * filters run in the order of filters/order.ts, and so do response hooks.
 */
export type Filter = {
  readonly slug: string;
  /**
   * Names of request fields about which this filter alone decides: a client cannot send them as trailers either
   * (docs/features/forwarding.md, "Bodies and trailers").
   */
  readonly ownedFields?: readonly string[];
  /** The same for fields of responses: an upstream cannot send them as trailers. */
  readonly ownedResponseFields?: readonly string[];
  /** Answers the request itself by returning a reply; undefined lets it go on. */
  readonly onRequest?: (exchange: Exchange) => LocalReply | undefined | Promise<LocalReply | undefined>;
  /** Changes a request that another check has admitted in place of this one, as this one would (docs/features/satisfy.md). */
  readonly onUnchecked?: (exchange: Exchange) => void;
  /** Sees, and may change, the head of every response of the route, local replies included. */
  readonly onResponse?: (exchange: Exchange, head: ResponseHead) => void;
  /**
   * May put a transformation between an upstream's body and the client, or undefined to leave the body alone. Called
   * after all `onResponse` hooks; may change the head once more.
   */
  readonly transformBody?: (
    exchange: Exchange,
    head: ResponseHead,
    ends: BodyEnds,
  ) => BodyTransform | undefined;
};

/** When a request is sent again, ready to be asked. */
export type RetryPlan = {
  /** Attempts after the first one. */
  readonly attempts: number;
  readonly codes: ReadonlySet<number>;
  readonly grpcCodes: ReadonlySet<number>;
  /** Shortest wait before each retry in milliseconds, 0 for none. */
  readonly backoffMs: number;
  /** See common/src/features/retry.ts; undefined: the failures of the page. */
  readonly conditions: ReadonlySet<RetryCondition> | undefined;
  readonly everyMethod: boolean;
  /** No attempt begins later than this after the first one, in milliseconds. */
  readonly withinMs: number;
};

/** A failure without a response. */
export type RetryCondition = NonNullable<Retry["conditions"]>[number];

/** One place that gets copies of requests. */
export type MirrorPlan = {
  /** `namespace/name` of the Service, or a host. */
  readonly service: string;
  /** The present upstream; undefined: there is only a host that the gateway serves. */
  readonly upstream: (() => Upstream) | undefined;
  /** The share of requests that are copied, 0 to 1. */
  readonly share: number;
  /** Undefined: the copy has the URL and body of the request. */
  readonly url: MirrorUrl | undefined;
};

/** What copies have in place of the URL of their request. */
export type MirrorUrl = {
  readonly authorityOf: (exchange: Exchange) => string;
  readonly targetOf: (exchange: Exchange) => string;
  readonly withoutBody: boolean;
  /** Sends a copy through the routes of the gateway; answers undefined when it does not serve the host. */
  readonly sendToHost: ((exchange: Exchange, copy: HostCopy) => HostCopyCall | undefined) | undefined;
};

type HostCopy = {
  readonly headers: HeaderList;
  readonly body: RequestBody | null;
  readonly timeoutMs: number;
};

/** The answer of the host; undefined when there is none in time. */
type HostCopyCall = { readonly answer: Promise<{ readonly status: number } | undefined> };

/** The errors that a Service answers in place of the proxy and of backends (docs/features/error-pages.md). */
export type ErrorPagePlan = {
  readonly codes: ReadonlySet<number>;
  /** Whether errors of backends are replaced, too. */
  readonly takesBackends: boolean;
  /** The present upstream of the Service; undefined: the proxy answers with the status. */
  readonly page: (() => Upstream) | undefined;
  /** The present upstream that gets requests whose backend has no endpoint. */
  readonly standIn: (() => Upstream) | undefined;
  /** Fields that the Service gets besides those about the request. */
  readonly fields: HeaderList;
};
