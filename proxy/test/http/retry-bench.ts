import type { Retry } from "@svc-gateway/common/features/retry.ts";
import { retryFilter } from "../../src/filters/retry.ts";
import { Fields } from "../../src/message/fields.ts";
import type { RequestHead, ResponseHead } from "../../src/message/message.ts";
import type { UpstreamErrorKind } from "../../src/upstream/upstream-errors.ts";
import { createBench, FakeBody, type FakeClient } from "./fakes.ts";

export type Bench = ReturnType<typeof createBench>;

export const plan: Retry = { attempts: 2, codes: [502, 503, 504] };
export const benchWith = (retry: Partial<Retry> = {}, endpoints = 3): Bench =>
  createBench({ filters: [retryFilter({ ...plan, ...retry })], endpoints });

export const head = (status: number, rest: Partial<ResponseHead> = {}): ResponseHead => ({
  status,
  headers: Fields.of([]),
  length: undefined,
  bodyless: false,
  ...rest,
});

/** Runs everything that was deferred to the end of the turn. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));

export async function fail(
  { upstream }: Bench,
  kind: UpstreamErrorKind,
  requestSent = kind === "reset" || kind === "invalid",
): Promise<void> {
  upstream.last.handler.onError({ kind, text: `some ${kind}`, requestSent });
  await turn();
}

export async function answer({ upstream }: Bench, given: ResponseHead): Promise<void> {
  upstream.last.handler.onHead(given);
  await turn();
}

export const retriesOf = ({ metrics }: Bench, condition: string): number =>
  metrics.upstreamRetries.with({
    listener: "80",
    route: "ingress/ns/web:0.0",
    upstream: "ns/web",
    condition,
  }).value;

export const addresses = ({ upstream }: Bench): readonly string[] =>
  upstream.sent.map(({ endpoint }) => endpoint.address);

/** Sends a request with a body that arrives in these pieces, followed by trailers. */
export function post(bench: Bench, pieces: readonly string[], given: Partial<RequestHead> = {}): FakeClient {
  const body = new FakeBody();
  const client = bench.request({ method: "POST", ...given }, body);
  take(bench);
  for (const piece of pieces) body.sink?.onData(Buffer.from(piece));
  body.sink?.onEnd(["X-Sum", "1"]);
  return client;
}

/** Reads the body of the last attempt as an upstream does; the result grows as it arrives. */
export function take({ upstream }: Bench): {
  text: string;
  trailers: readonly string[] | undefined;
  ended: boolean;
} {
  const got = { text: "", trailers: undefined as readonly string[] | undefined, ended: false };
  upstream.last.request.body?.start({
    onData: (chunk) => ((got.text += chunk.toString()), true),
    onEnd(trailers) {
      got.trailers = trailers;
      got.ended = true;
    },
    onAbort: () => {},
  });
  return got;
}

export const connectFailures = [
  ["refused", "connect-failure"],
  ["connect", "connect-failure"],
  ["tls", "connect-failure"],
  ["connect-timeout", "timeout"],
] as const;
