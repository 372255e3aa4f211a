import type { ExtAuth, ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { mayBeClientHeader, mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import { createAnswerCache, type KnownAnswer } from "../auth/answer-cache.ts";
import { ExternalCall, type ExternalAnswer } from "../auth/external-call.ts";
import {
  describeAnswer,
  type ExternalCheckApi,
  type ExternalVerdict,
  reasonOfFailure,
  serviceOf,
} from "../auth/external-check.ts";
import { createGrpcCheck } from "../auth/grpc-check.ts";
import { compileTarget, createHttpCheck, pickFields } from "../auth/http-check.ts";
import { compileIdentityStripper } from "../auth/identity-headers.ts";
import { compileUrlCheck } from "../auth/url-check.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { HeldBody, type HoldFailure } from "../http/held-body.ts";
import { FieldBlock } from "../message/field-block.ts";
import { putFields, type ReadonlyHeaderList } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";
import { isHopByHop } from "../message/hop-by-hop.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { awake } from "../timing/awake-clock.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { FilterEnvironment } from "./environment.ts";
import { inOrder } from "./in-order.ts";

type Check = (exchange: Exchange) => LocalReply | undefined | Promise<LocalReply | undefined>;

const unavailable: LocalReply = { status: 503, error: "no authorization service" };
const failed: LocalReply = { status: 503, error: "authorization service failed" };
const tooMany: LocalReply = { status: 503, error: "too many authorization requests" };

/**
 * Sends a check request to each authorization service, sequentially; the first denial is passed to the client
 * unchanged. See docs/features/ext-auth.md.
 */
export function extAuthFilter(asked: ExtAuth, environment: FilterEnvironment): Filter {
  const responses: NonNullable<Filter["onResponse"]>[] = [];
  const checks = asked.map(({ check, url }): Check | undefined => {
    if (check !== undefined) return compileCheck(check, environment);
    if (url === undefined) return undefined;
    const compiled = compileUrlCheck(url, environment);
    responses.push(compiled.onResponse);
    return compiled.check;
  });
  // Stripped before the first check, because later checks must keep the fields that earlier services have set.
  const identityFields = asked.flatMap(
    ({ check, url }) => check?.allowedResponseHeaders ?? url?.responseHeaders ?? [],
  );
  const stripIdentity = compileIdentityStripper(identityFields);
  const afterStripping = (check: Check): Check => {
    return (exchange) => {
      stripIdentity(exchange.headers);
      return check(exchange);
    };
  };
  const required = checks.filter((_, index) => asked[index]?.required === true);
  return {
    slug: "ext-auth",
    ownedFields: identityFields,
    onRequest: afterStripping(allOf(checks)),
    ...(required.length > 0 && { requiredCheck: afterStripping(allOf(required)) }),
    onUnchecked: ({ headers }) => stripIdentity(headers),
    ...(responses.length > 0 && {
      onResponse(exchange, head) {
        for (const respond of responses) respond(exchange, head);
      },
    }),
  };
}

/** Combines checks into one. If a service cannot be called (undefined), no service is. */
function allOf(checks: readonly (Check | undefined)[]): Check {
  const usable = checks.filter((check) => check !== undefined);
  return usable.length < checks.length ? () => unavailable : inOrder(usable);
}

function compileCheck(check: ExternalCheck, { auth, upstreamOf }: FilterEnvironment): Check {
  const { endpoints, protocol, timeoutMs, maxBodyBytes } = check;
  const upstream = upstreamOf(endpoints, protocol);
  const api: ExternalCheckApi = check.api === "grpc" ? createGrpcCheck(check) : createHttpCheck(check);
  const cache = compileCache(check, auth);
  const { obey, admissionOf } = compileVerdict(check);
  /** The changes that remembered answers make to the requests that they admit. */
  const admissions = new WeakMap<KnownAnswer, Admission>();
  // When the bound is reached, the namespace with the most check requests loses one to a namespace with fewer.
  const [owner = ""] = endpoints.split("/", 1);
  const withoutEndpoint = { ...unavailable, detail: `${serviceOf(endpoints)}: no endpoint` };

  /** Sends the check request. Returns undefined when no request could be sent, or the service failed. */
  const sendCheck = async (
    exchange: Exchange,
    pick: Upstream["pick"],
    onCall: (call: ExternalCall) => void,
  ): Promise<ExternalAnswer | undefined> => {
    const request = api.request(exchange, maxBodyBytes === undefined ? undefined : exchange.held?.bytes);
    if (request === undefined) return undefined;
    const selection = pick(exchange);
    if (selection === undefined) return undefined;
    const call = new ExternalCall(auth.sendCheck, selection, request, {
      timeoutMs,
      readsBody: api.readsBody,
    });
    exchange.work = call;
    onCall(call);
    const answer = await call.answer;
    if (exchange.work === call) exchange.work = undefined;
    return answer;
  };

  const ask = async (exchange: Exchange, key: string | undefined): Promise<LocalReply | undefined> => {
    const { pick } = upstream();
    let call: ExternalCall | undefined;
    let isDisplaced = false;
    const release = auth.enterCall(owner, () => {
      isDisplaced = true;
      call?.cancel();
    });
    if (release === undefined) return tooMany;
    const answer = await sendCheck(exchange, pick, (started) => (call = started)).finally(release);
    if (isDisplaced) return tooMany;
    const verdict = answer && api.verdict(answer, exchange);
    if (key !== undefined && answer !== undefined && verdict !== undefined) cache?.set(key, answer);
    return obey(exchange, verdict, call, answer);
  };

  /** Decides synchronously when the answer of the service is remembered. */
  const decide = (exchange: Exchange): ReturnType<Check> => {
    if (upstream().endpoints.length === 0) return withoutEndpoint;
    const key = cache?.keyOf(exchange);
    const remembered = key === undefined ? undefined : cache?.get(key);
    if (remembered === undefined) return ask(exchange, key);
    const known = admissions.get(remembered);
    if (known !== undefined) return admit(exchange, known);
    const verdict = api.verdict(answerOf(remembered), exchange);
    if (verdict?.allowed === true) admissions.set(remembered, admissionOf(verdict));
    return obey(exchange, verdict);
  };

  if (maxBodyBytes === undefined) return decide;
  return async (exchange) => {
    const refused = await holdBody(exchange, maxBodyBytes, auth);
    return refused !== undefined || exchange.finished ? refused : decide(exchange);
  };
}

/** Compiles the application of a verdict to the request; an undefined verdict means that the service failed. */
function compileVerdict({
  failClosed,
  allowedResponseHeaders,
  clientResponseHeaders,
  endpoints,
}: ExternalCheck) {
  const service = serviceOf(endpoints);
  const isPassedOn = compileNames(allowedResponseHeaders);
  const clientNames = new Set(clientResponseHeaders?.filter(mayBeClientHeader));
  const isForClient = (name: string): boolean => clientNames.has(name) && !isHopByHop(name);
  const admissionOf = ({ headers, forClient }: Allowing): Admission => {
    const fields = pickFields(headers, isPassedOn);
    return {
      strip: compileIdentityStripper(fields.filter((_, index) => index % 2 === 0)),
      fields: new FieldBlock(fields),
      forClient: clientNames.size === 0 ? [] : pickFields(forClient, isForClient),
    };
  };
  const obey = (
    exchange: Exchange,
    verdict: ExternalVerdict | undefined,
    call?: Pick<ExternalCall, "failure" | "detail">,
    answer?: ExternalAnswer,
  ): LocalReply | undefined => {
    if (verdict === undefined) {
      if (!failClosed) return undefined;
      const what = call?.detail ?? (answer === undefined ? "no question to send" : describeAnswer(answer));
      return { ...failed, reason: reasonOfFailure(call?.failure), detail: `${service}: ${what}` };
    }
    if (!verdict.allowed) return { ...verdict.reply, detail: `${service}: ${verdict.reply.detail ?? ""}` };
    return admit(exchange, admissionOf(verdict));
  };
  return { obey, admissionOf };
}

type Allowing = Extract<ExternalVerdict, { readonly allowed: true }>;

/** The changes that an allowing answer makes. */
type Admission = {
  /** Removes fields of the same names that the client sent or that an earlier service set. */
  readonly strip: (headers: Fields) => void;
  readonly fields: FieldBlock;
  readonly forClient: ReadonlyHeaderList;
};

function admit(exchange: Exchange, { strip, fields, forClient }: Admission): undefined {
  strip(exchange.headers);
  exchange.headers.appendBlock(fields);
  addClientFields(exchange, forClient);
}

/** Creates the cache of answers; undefined if none are remembered. */
function compileCache(check: ExternalCheck, { answers, now }: FilterEnvironment["auth"]) {
  const { cache } = check;
  if (cache === undefined) return undefined;
  const targetOf = compileTarget(check);
  const questionOf = (exchange: Exchange): string =>
    `${check.question?.method ?? exchange.method} ${targetOf(exchange)}`;
  const identity = JSON.stringify(check);
  return createAnswerCache({ cache, identity, isKept: () => true, questionOf }, answers, now);
}

const noBody = Buffer.alloc(0);
const answerOf = ({ status, headers, body = noBody }: KnownAnswer): ExternalAnswer => ({
  status,
  headers,
  body,
  trailers: undefined,
});

/** Fields that describe the service's response itself; copied only if the check names them. */
const describing = new Set([
  ...["cache-control", "date", "etag", "expires", "last-modified", "server", "vary"],
  // A field of responses only.
  "set-cookie",
]);

/** Compiles the test that selects the fields of the service's response that go upstream. */
function compileNames(names: readonly string[] | undefined): (lowerName: string) => boolean {
  if (names === undefined) {
    return (name) => mayBeIdentityHeader(name) && !name.startsWith("content-") && !describing.has(name);
  }
  const wanted = new Set(names);
  return (name) => wanted.has(name);
}

/** Adds the fields of the service to the response of the upstream or proxy; of two services, the later one wins. */
function addClientFields(exchange: Exchange, fields: ReadonlyHeaderList): void {
  if (fields.length === 0) return;
  if (exchange.clientFields === undefined) exchange.clientFields = [...fields];
  else putFields(exchange.clientFields, fields);
}

/** Reads the body into memory, unless an earlier check has done so. Returns a reply when the request ends here. */
async function holdBody(
  exchange: Exchange,
  maxBytes: number,
  { bodies, countLimit }: FilterEnvironment["auth"],
): Promise<LocalReply | undefined> {
  const { client, held, contentLength = 0 } = exchange;
  const limit = Math.min(maxBytes, exchange.maxBodyBytes);
  if (client.body === null) return undefined;
  if (held !== undefined) return (held.bytes?.length ?? 0) > limit ? tooLarge : undefined;
  if (contentLength > limit) return tooLarge;
  if (exchange.expectContinue) {
    exchange.expectContinue = false;
    client.sendInformational(100, []);
  }
  const body = new HeldBody(client.body, limit, bodies, () => (exchange.lastActivityMs = awake.nowMs));
  exchange.held = body;
  const failure = await body.collect();
  if (failure === undefined) return undefined;
  if (failure === "no-memory") countLimit("auth-bodies");
  return replies[failure];
}

const tooLarge: LocalReply = { status: 413, error: "request body too large", close: true };

const replies: Readonly<Record<HoldFailure, LocalReply>> = {
  "too-large": tooLarge,
  "no-memory": { status: 503, error: "too many request bodies held", close: true },
  timeout: { status: 408, error: "request body timeout", close: true },
  malformed: { status: 400, error: "malformed request body", close: true },
  "client-closed": { status: 400, error: "malformed request body", close: true },
};
