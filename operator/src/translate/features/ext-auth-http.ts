/** The HTTP settings of a SvcExternalAuth: `spec.http`. See docs/features/ext-auth.md, "Over HTTP". */
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import {
  identifiesClient,
  literalOf,
  parseRequestTemplate,
  templateVariables,
  type RequestTemplate,
} from "@svc-gateway/common/features/request-template.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { parseEndpoint } from "@svc-gateway/common/values/endpoint.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { quote } from "../text.ts";
import type { CheckField } from "./check-url.ts";
import { withReturnUrl } from "./sign-in.ts";

type Http = NonNullable<ObjectOf<"SvcExternalAuth">["spec"]["http"]>;
type HttpSettings = Pick<ExternalCheck, "question" | "signIn" | "deniedStatuses" | "cache">;

/**
 * Reads the settings; the error is the reason why the service cannot be asked. The cache and the redirect,
 * which are only conveniences, are omitted if they are invalid, with a sentence in `ignored`.
 */
export function readHttpSettings(
  { http, protocol, forwardBody }: ObjectOf<"SvcExternalAuth">["spec"],
  { metadata }: Pick<ObjectOf<"SvcExternalAuth">, "metadata">,
  ignored: string[],
): Result<HttpSettings> {
  if (http === undefined) return ok({});
  if (protocol !== "HTTP") return problem(`spec.http is for protocol HTTP only, found ${protocol}`);
  const statics = { namespace: metadata.namespace };
  const parse: Parse = (text) => parseRequestTemplate(text, { statics });
  const question = readQuestion(http, parse);
  if (!question.ok) return question;
  const { deniedStatuses } = http;
  return ok({
    ...(Object.keys(question.value).length > 0 && { question: question.value }),
    ...(deniedStatuses !== undefined && { deniedStatuses }),
    ...readAnswers(http, (forwardBody?.maxSize ?? 0) > 0, parse, ignored),
  });
}

/** Reads the handling of answers beyond admitting or denying: the redirect to sign in, and the cache. */
export function readAnswers(
  http: Http,
  sendsBody: boolean,
  parse: Parse,
  ignored: string[],
): Pick<ExternalCheck, "signIn" | "cache"> {
  const cache = readCache(http, sendsBody, parse);
  if (!cache.ok) ignored.push(`spec.http.cache${describeProblem(cache.error)}; no answer is remembered`);
  const signIn = readSignIn(http, parse);
  if (!signIn.ok)
    ignored.push(`spec.http.signIn.url: ${describeProblem(signIn.error)}; clients get 401 instead`);
  return {
    ...(signIn.ok && signIn.value !== undefined && { signIn: signIn.value }),
    ...(cache.ok && cache.value !== undefined && { cache: cache.value }),
  };
}

export type Parse = (text: string) => Result<RequestTemplate>;
type Question = NonNullable<ExternalCheck["question"]>;

function readQuestion({ path, host, method, headers = [] }: Http, parse: Parse): Result<Question> {
  const named = (field: string, result: Result<RequestTemplate>): Result<RequestTemplate> =>
    result.ok ? result : problem(`spec.http.${field}: ${describeProblem(result.error)}`);
  const target = path === undefined ? undefined : named("path", readPath(path, parse));
  if (target?.ok === false) return target;
  const authority = host === undefined ? undefined : named("host", readHost(host, parse));
  if (authority?.ok === false) return authority;
  const set = readCheckFields(headers, parse);
  if (!set.ok) return set;
  return ok({
    ...(target !== undefined && { target: target.value }),
    ...(authority !== undefined && { authority: authority.value }),
    ...(method !== undefined && { method }),
    ...(set.value.length > 0 && { set: set.value }),
  });
}

/** Reads the fields of `spec.http.headers`. */
export function readCheckFields(
  headers: NonNullable<Http["headers"]>,
  parse: Parse,
): Result<readonly CheckField[]> {
  const set: CheckField[] = [];
  for (const [index, { name, value }] of headers.entries()) {
    const at = `spec.http.headers[${index}]`;
    if (!mayBeIdentityHeader(name)) {
      return problem(`${at}.name: ${quote(name)} frames or routes a message, expected another header`);
    }
    const template = parse(value);
    if (!template.ok) return problem(`${at}.value: ${describeProblem(template.error)}`);
    set.push({ name, value: template.value });
  }
  return ok(set);
}

function readPath(path: string, parse: Parse): Result<RequestTemplate> {
  if (!path.startsWith("/")) return problem(`${quote(path)} does not begin with "/"`);
  if (path.includes("#")) return problem(`${quote(path)} has a fragment`, "path and query");
  return parse(path);
}

/** Reads a host. A host without variables is checked here; one with variables is checked for each request. */
function readHost(host: string, parse: Parse): Result<RequestTemplate> {
  const template = parse(host);
  const literal = template.ok ? literalOf(template.value) : undefined;
  if (literal === undefined || parseEndpoint(literal, 80).ok) return template;
  return problem(`${quote(host)} is no host`, "host[:port]");
}

function readSignIn({ signIn }: Http, parse: Parse): Result<RequestTemplate | undefined> {
  if (signIn === undefined) return ok(undefined);
  const { url, redirectParam = "rd" } = signIn;
  if (!/^(?:https?:\/\/[^/?#]|\/(?!\/))/.test(url)) {
    return problem(
      `${quote(url)} is no URL`,
      'a URL of http or https, or a path, such as "https://$host/oauth2/start"',
    );
  }
  return parse(withReturnUrl(url, redirectParam));
}

const maxTimeMs = 86_400_000;

/** Reads the cache settings. The error text begins with the field below `spec.http.cache`. */
function readCache(
  { cache }: Http,
  sendsBody: boolean,
  parse: Parse,
): Result<ExternalCheck["cache"] | undefined> {
  if (cache === undefined) return ok(undefined);
  if (sendsBody) return problem(": it cannot be used with spec.forwardBody, as no key holds the body");
  const key = parse(cache.key);
  if (!key.ok) return problem(`.key: ${describeProblem(key.error)}`);
  if (!templateVariables(key.value).some(identifiesClient)) {
    return problem(
      `.key: ${quote(cache.key)} has no part that differs between clients, expected one such as $http_authorization or $cookie_<name>`,
    );
  }
  const times: NonNullable<ExternalCheck["cache"]>["times"][number][] = [];
  for (const [index, { statuses, duration }] of cache.times.entries()) {
    const ms = parseDuration(duration);
    if (!ms.ok) return problem(`.times[${index}].duration: ${describeProblem(ms.error)}`);
    if (ms.value <= 0 || ms.value > maxTimeMs) {
      return problem(`.times[${index}].duration: ${duration} is not more than 0 and at most 24h`);
    }
    times.push({ ms: ms.value, ...(statuses !== undefined && { statuses }) });
  }
  return ok({ key: key.value, times });
}
