import type { ExtAuth, ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import { ExternalCall, type ExternalAnswer } from "../auth/external-call.ts";
import { compileIdentityStripper } from "../auth/identity-headers.ts";
import type { Exchange } from "../http/exchange.ts";
import type { LocalReply } from "../http/local-reply.ts";
import type { HeaderList } from "../http/message.ts";
import type { FilterEnvironment } from "./environment.ts";
import type { Filter } from "./filter.ts";

const unavailable: LocalReply = { status: 503, error: "no authorization service" };
const failed: LocalReply = { status: 503, error: "authorization service failed" };

/** Fields that frame the answer of the service, not that of the proxy. */
const framing = new Set(["content-length", "transfer-encoding", "trailer"]);

/**
 * Asks a service about each request, without its body; its refusal goes to the client as it is. See
 * docs/features/ext-auth.md.
 */
export function extAuthFilter({ check }: ExtAuth, { auth, upstreamOf }: FilterEnvironment): Filter {
  if (check === undefined) return { slug: "ext-auth", onRequest: () => unavailable };
  const upstream = upstreamOf(check.endpoints, check.protocol);
  const stripIdentity = compileIdentityStripper(check.allowedResponseHeaders);
  const passedOn = new Set(check.allowedResponseHeaders);
  const verdictOn = (exchange: Exchange, answer: ExternalAnswer | undefined): LocalReply | undefined => {
    if (answer === undefined) return check.failClosed ? failed : undefined;
    if (answer.status < 200 || answer.status > 299) return refusal(answer);
    copyFields(answer.headers, exchange.headers, (name) => passedOn.has(name));
    return undefined;
  };
  return {
    slug: "ext-auth",
    async onRequest(exchange) {
      stripIdentity(exchange.headers);
      const { protocol, pick } = upstream();
      const selection = pick(exchange);
      if (selection === undefined) return unavailable;
      const release = auth.enterCall();
      if (release === undefined) return failed;
      const call = new ExternalCall(
        auth.send,
        selection.endpoint,
        {
          protocol,
          method: exchange.method,
          target: exchange.path + exchange.query,
          authority: exchange.authority,
          scheme: exchange.connection.listener.secure ? "https" : "http",
          headers: questionFields(exchange, check),
          body: null,
          upgrade: undefined,
          expectContinue: false,
        },
        check.timeoutMs,
      );
      exchange.work = call;
      const answer = await call.answer;
      release();
      if (exchange.work === call) exchange.work = undefined;
      return verdictOn(exchange, answer);
    },
  };
}

/** What the service learns: the fields that it may see, and what the client asked for. */
function questionFields(exchange: Exchange, { allowedHeaders }: ExternalCheck): HeaderList {
  const allowed = new Set(allowedHeaders);
  const fields: HeaderList = [];
  copyFields(exchange.headers, fields, (name) => allowed.has(name));
  fields.push("X-Forwarded-Method", exchange.method, "X-Forwarded-Uri", exchange.path + exchange.query);
  if (exchange.authority !== "") fields.push("X-Forwarded-Host", exchange.authority);
  const proto = exchange.connection.listener.secure ? "https" : "http";
  fields.push("X-Forwarded-Proto", proto, "X-Forwarded-For", exchange.clientIp);
  return fields;
}

/** Values come from a parser that lets no control character pass; what is written here is looked at all the same. */
function copyFields(from: HeaderList, to: HeaderList, isWanted: (lowerName: string) => boolean): void {
  for (let i = 0; i < from.length; i += 2) {
    const name = from[i] as string;
    const value = from[i + 1] as string;
    if (isWanted(name.toLowerCase()) && isHeaderValue(value)) to.push(name, value);
  }
}

/** The answer of the service as it is, apart from its framing. */
function refusal({ status, headers, body }: ExternalAnswer): LocalReply {
  const fields: HeaderList = [];
  copyFields(headers, fields, (name) => !framing.has(name));
  return { status, headers: fields, body, isVerbatim: true, error: "refused by the authorization service" };
}
