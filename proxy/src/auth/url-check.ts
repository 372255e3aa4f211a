import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { hostOf } from "../message/authority.ts";
import { firstField, joinedField, keptFields, plainName } from "../message/field-list.ts";
import { Fields } from "../message/fields.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { HeaderList, ResponseHead } from "../message/message.ts";
import { compileRequestTemplate, escapeUrl, originForm } from "../routing/request-template.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { createAnswerCache } from "./answer-cache.ts";
import type { AuthStore } from "./auth-store.ts";
import { ExternalCall } from "./external-call.ts";
import { reasonOfFailure, serviceOf } from "./external-check.ts";
import type { HostAnswer, HostCall } from "./host-call.ts";
import { pickFields, shownFields } from "./http-check.ts";
import { compileIdentityStripper } from "./identity-headers.ts";

const loop: LocalReply = { status: 500, error: "authorization loop" };
const malformedUrl: LocalReply = { status: 500, error: "authorization URL malformed" };
const failed: LocalReply = { status: 500, error: "authorization service failed" };
const notServed: LocalReply = { status: 503, error: "host of the authorization URL is not served" };
const tooMany: LocalReply = { status: 503, error: "too many authorization requests" };

/** The parts of a worker that a check by URL uses. */
export type UrlCheckEnvironment = {
  readonly auth: Pick<AuthStore, "askHost" | "answers" | "now" | "sendCheck" | "enterCall">;
  readonly upstreamOf: (endpoints: string, protocol: Upstream["protocol"]) => () => Upstream;
};

/** A compiled check: `check` answers the request or lets it pass; `onResponse` adds the cookie of the service. */
export type CompiledUrlCheck = {
  readonly check: (exchange: Exchange) => LocalReply | undefined | Promise<LocalReply | undefined>;
  readonly onResponse: NonNullable<Filter["onResponse"]>;
};

/** Compiles a check that sends a request to a URL for each client request. See docs/features/ext-auth.md, "By URL". */
export function compileUrlCheck(config: UrlCheck, environment: UrlCheckEnvironment): CompiledUrlCheck {
  const { auth } = environment;
  const ask = compileAsk(config, environment);
  const kept = new Set([...config.responseHeaders, "www-authenticate"]);
  const cached = config.cache && {
    cache: config.cache,
    identity: JSON.stringify(config),
    isKept: (name: string) => kept.has(name),
  };
  const cache = cached && createAnswerCache(cached, auth.answers, auth.now);
  const decide = compileDecision(config);
  /** The cookies that the service set in its answers, by the request that they are about. */
  const cookies = new WeakMap<Exchange, string>();
  const askAbout = async (exchange: Exchange, key: string | undefined): Promise<LocalReply | undefined> => {
    const { answer, reply } = await ask(exchange);
    if (answer === undefined) return reply;
    if (key !== undefined) cache?.set(key, answer);
    const cookie = firstField(answer.headers, "set-cookie");
    if (cookie !== undefined) cookies.set(exchange, cookie);
    return decide(exchange, answer);
  };
  return {
    check(exchange) {
      if (exchange.connection.isQuestion === true) return loop;
      const key = cache?.keyOf(exchange);
      const known = key === undefined ? undefined : cache?.get(key);
      // A remembered answer has no cookie to add: answers with one are not remembered.
      return known === undefined ? askAbout(exchange, key) : decide(exchange, known);
    },
    onResponse(exchange, head) {
      const cookie = cookies.get(exchange);
      if (cookie === undefined || head.status === 101) return;
      if (config.alwaysSetsCookie === true || setsCookie(head)) head.headers.append("Set-Cookie", cookie);
    },
  };
}

/** Statuses with which nginx adds fields to a response. */
const addingStatuses: ReadonlySet<number> = new Set([200, 201, 204, 206, 301, 302, 303, 304, 307, 308]);
const setsCookie = ({ status }: ResponseHead): boolean => addingStatuses.has(status);

/** Compiles the decision: lets the request pass with the fields of the answer, or refuses it. */
function compileDecision({ responseHeaders, signIn, service }: UrlCheck) {
  const before = prefixOf(service);
  const describe = (status: number): string => `${before}status ${status}`;
  const names = responseHeaders.filter(mayBeIdentityHeader);
  const strip = compileIdentityStripper(names);
  const location = signIn && compileRequestTemplate(signIn);
  return (exchange: Exchange, { status, headers }: HostAnswer): LocalReply | undefined => {
    strip(exchange.headers);
    if (status >= 200 && status <= 299) {
      for (const name of names) {
        const value = joinedField(headers, name);
        if (value !== undefined && value !== "") exchange.headers.append(name, value);
      }
      return undefined;
    }
    if (status === 401 && location !== undefined) {
      return {
        status: 302,
        headers: ["Location", escapeUrl(location(exchange))],
        body: "",
        error: "not signed in",
        detail: describe(status),
      };
    }
    if (status === 401 || status === 403) {
      const challenge = pickFields(headers, (name) => name === "www-authenticate");
      return {
        status,
        headers: status === 401 ? challenge : [],
        error: "denied by the authorization service",
        detail: describe(status),
      };
    }
    return { ...failed, detail: describe(status) };
  };
}

/** The Service that is asked, for the access log; empty if the URL can be served by a host of the gateway instead. */
const prefixOf = (service: UrlCheck["service"]): string =>
  service === undefined || service.unlessServed === true ? "" : `${serviceOf(service.endpoints)}: `;

/** The answer of the service, or the reply to the client if there is no answer. */
type Asked =
  | { readonly answer: HostAnswer; readonly reply?: undefined }
  | { readonly answer?: undefined; readonly reply: LocalReply };

/** Sends the question, within the bound on questions under way. */
function compileAsk(config: UrlCheck, { auth, upstreamOf }: UrlCheckEnvironment) {
  const start = compileStart(config, { auth, upstreamOf });
  const [owner] = config.service?.endpoints.split("/", 1) ?? [];
  const before = prefixOf(config.service);
  const whyUnanswered = ({ failure, detail }: HostCall): Pick<LocalReply, "reason" | "detail"> => ({
    reason: reasonOfFailure(failure),
    ...(detail !== undefined && { detail: `${before}${detail}` }),
  });
  return async (exchange: Exchange): Promise<Asked> => {
    let call: HostCall | LocalReply | undefined;
    let isDisplaced = false;
    const release = auth.enterCall(owner ?? exchange.route?.namespace ?? "", () => {
      isDisplaced = true;
      if (call !== undefined && "cancel" in call) call.cancel();
    });
    if (release === undefined) return { reply: tooMany };
    call = start(exchange);
    if (!("cancel" in call)) {
      release();
      return { reply: call };
    }
    exchange.work = call;
    const answer = await call.answer.finally(release);
    if (exchange.work === call) exchange.work = undefined;
    if (answer !== undefined) return { answer };
    return { reply: isDisplaced ? tooMany : { ...failed, ...whyUnanswered(call) } };
  };
}

/** Starts the call of a host of the gateway or of an endpoint of a Service; returns a reply if neither is possible. */
function compileStart(config: UrlCheck, { auth, upstreamOf }: UrlCheckEnvironment) {
  const { scheme, method, timeoutMs, service } = config;
  const authorityOf = compileRequestTemplate(config.authority);
  const targetOf = compileRequestTemplate(config.target);
  const fieldsOf = compileFields(config);
  const asksHosts = service === undefined || service.unlessServed === true;
  const { endpoints, protocol = "http1" } = service ?? {};
  const upstream = endpoints === undefined ? undefined : upstreamOf(endpoints, protocol);
  const options = { timeoutMs, readsBody: () => false };
  return (exchange: Exchange): HostCall | LocalReply => {
    const authority = authorityOf(exchange);
    if (hostOf(authority) === undefined) return malformedUrl;
    const target = originForm(targetOf(exchange));
    const question = { scheme, authority, method, target, headers: fieldsOf(exchange), timeoutMs };
    const own = asksHosts ? auth.askHost(question, exchange) : undefined;
    if (own !== undefined) return own;
    if (upstream === undefined) return notServed;
    const selection = upstream().pick(exchange);
    if (selection === undefined) return failed;
    const headers = Fields.of(question.headers);
    const request = { ...question, headers, protocol, body: null, upgrade: undefined, expectContinue: false };
    return new ExternalCall(auth.sendCheck, selection, request, options);
  };
}

/** The fields that describe the client to backends; in questions, the fields that the check sets replace them. */
const aboutClient: ReadonlySet<string> = new Set([
  ...["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"],
  ...["x-forwarded-scheme", "x-scheme", "x-real-ip", "x-original-uri", "x-original-url", "x-original-method"],
  ...["x-original-forwarded-for", "x-original-forwarded-host", "via"],
]);

/**
 * The fields of the question: those of the client, except those that the check sets. Credentials, and fields that the
 * service may set for the upstream, are passed as the client sent them.
 */
function compileFields({ set, responseHeaders }: UrlCheck): (exchange: Exchange) => HeaderList {
  const own = set.map(({ name, value }) => ({ name, valueOf: compileRequestTemplate(value) }));
  const replaced = new Set([...aboutClient, ...set.map(({ name }) => plainName(name))]);
  const fromClient = new Set(responseHeaders.map(plainName));
  const isShown = (name: string): boolean => !replaced.has(plainName(name));
  return (exchange) => {
    const { received } = exchange;
    const fields = keptFields(
      shownFields(exchange, isShown),
      (name) => !fromClient.has(plainName(name)) || isCredential(name),
    );
    fields.push(
      ...pickFields(
        received.toList(),
        (name) =>
          fromClient.has(plainName(name)) &&
          !isCredential(name) &&
          isShown(name) &&
          mayBeIdentityHeader(name),
      ),
    );
    for (const { name, valueOf } of own) {
      const value = valueOf(exchange).trim();
      if (value !== "") fields.push(name, value);
    }
    return fields;
  };
}

const isCredential = (name: string): boolean => /^(?:authorization|cookie)$/i.test(name);
