/** Authentication by URL. See docs/ingress-nginx.md, "Authentication by URL". */
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import {
  identifiesClient,
  literalOf,
  parseRequestTemplate,
  templateVariables,
  type RequestTemplate,
  type TemplateOptions,
} from "@svc-gateway/common/features/request-template.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { backendNotVerified, sharedAuthCache } from "../../diagnostics/ingress-nginx.ts";
import type { NginxAnnotation } from "../annotations/declare.ts";
import {
  authAlwaysSetCookie,
  authCacheDuration,
  authCacheKey,
  authMethod,
  authProxySetHeaders,
  authRequestRedirect,
  authResponseHeaders,
  authSignin,
  authSigninRedirectParam,
  authUrl,
  enableGlobalAuth,
} from "../annotations/ext-auth.ts";
import { createCheckFields, splitUrl } from "../../features/check-url.ts";
import { withReturnUrl } from "../../features/sign-in.ts";
import { findAuthService } from "../auth-target.ts";
import { backendsOf, backendOfPath, type PathBackend } from "../path-backends.ts";
import { readCacheTimes } from "../cache-times.ts";
import { readConfigMapFields, textOfWireForm } from "../config-map-fields.ts";
import { isExempt } from "../exempt-paths.ts";
import { dependsOnBackend, optionsOf } from "../statics.ts";
import { referenceForm } from "../values.ts";
import type { Group, GroupContext } from "./group.ts";
import { reportPartners } from "./partners.ts";

/** The read timeout of ingress-nginx. */
const timeoutMs = 60_000;

const partners = [
  ...[authMethod, authSignin, authSigninRedirectParam, authResponseHeaders, authProxySetHeaders],
  ...[authRequestRedirect, authAlwaysSetCookie, authCacheKey, authCacheDuration],
];

export const extAuth: Group = (read, context) => {
  const { ingress, nginx, isWritten } = context;
  const url = read(authUrl);
  const isGlobal = read.sourceOf(authUrl) === "config";
  if (url === undefined || (isGlobal && read(enableGlobalAuth) === false)) {
    // An `auth-url` that cannot be read has closed the paths already.
    if (!isWritten(authUrl)) reportPartners(partners, "has no effect without auth-url", read, context);
    return {};
  }
  if (isGlobal) reportPartners(partners, "has no effect beside global-auth-url", read, context);
  const setting: Setting = (annotation) => {
    if (isGlobal) return (nginx.config.defaults.get(annotation.name) ?? annotation.builtIn) as never;
    const source = read.sourceOf(annotation);
    return source === "annotation" || source === "class" ? read(annotation) : annotation.builtIn;
  };
  if (!isGlobal && setting(authCacheKey) === undefined) {
    reportPartners([authCacheDuration], "has no effect without auth-cache-key", read, context);
  }
  const checks = readChecks(url, setting, context);
  if (checks === undefined) return {};
  const { noAuthLocations } = nginx.config.keys;
  return {
    onHost: (path, facts) => {
      if (isExempt(path, noAuthLocations, ingress, facts)) return undefined;
      const check = checks(backendOfPath(ingress, path));
      return { "ext-auth": check === undefined ? [{}] : [{ url: check }] };
    },
  };
};

/**
 * Returns the value of an annotation that goes with the URL. The URL of the ConfigMap uses only settings of the
 * ConfigMap.
 */
type Setting = <T>(annotation: NginxAnnotation<T>) => T | undefined;

/** Closes the paths, and returns undefined as the missing result. */
const refuseWith =
  ({ close }: GroupContext) =>
  (annotation: Pick<NginxAnnotation, "name">, why: string): undefined => {
    close(annotation, why);
    return undefined;
  };

/** The check for the route to each backend; undefined if the paths are closed. */
function readChecks(
  url: string,
  setting: Setting,
  context: GroupContext,
): ((backend: PathBackend) => UrlCheck | undefined) | undefined {
  const refuse = refuseWith(context);
  const parts = splitUrl(url);
  if (!parts.ok) return refuse(authUrl, describeProblem(parts.error));
  const checks = new Map<string, UrlCheck>();
  const all = backendsOf(context.ingress);
  // Most settings do not depend on the backend. All backends then have the same check.
  const backends = [url, ...textsOf(setting, context)].some(dependsOnBackend) ? all : all.slice(0, 1);
  for (const [index, backend] of backends.entries()) {
    const options = optionsOf(context.ingress, backend);
    // Ignored values and differences are those of the first backend. A backend whose texts cannot be read closes all.
    const reporting = index === 0 ? context : { ...context, ...silent };
    const common = readCommon(setting, reporting, options);
    if (common === undefined) return undefined;
    const authority = parseRequestTemplate(parts.value.authority, options);
    const target = parseRequestTemplate(parts.value.target, options);
    if (!authority.ok) return refuse(authUrl, describeProblem(authority.error));
    if (!target.ok) return refuse(authUrl, describeProblem(target.error));
    const { scheme } = parts.value;
    const host = literalOf(authority.value);
    const service = host === undefined ? undefined : findAuthService({ scheme, authority: host }, context);
    if (service?.ok === false) return refuse(authUrl, describeProblem(service.error));
    if (service?.value !== undefined && scheme === "https" && !mayAskUnverified(reporting)) return undefined;
    checks.set(backends.length === 1 ? "" : keyOf(backend), {
      ...{ scheme, authority: authority.value, target: target.value },
      ...(service?.value !== undefined && { service: service.value }),
      ...common,
    });
  }
  return (backend) => checks.get("") ?? checks.get(keyOf(backend));
}

/** Reports that the Service is not verified. If that is forbidden, closes the paths and returns false. */
function mayAskUnverified({ nginx, report, close }: GroupContext): boolean {
  if (nginx.settings.requireBackendVerification) {
    close(
      authUrl,
      "the certificate of the Service would not be verified (--ingress-nginx-require-backend-verification)",
    );
    return false;
  }
  report(authUrl, (place) =>
    backendNotVerified(
      place,
      "connections to the Service of auth-url are encrypted, but its certificate is not verified, unless a BackendTLSPolicy, or tls of a SvcBackendPolicy, applies to it",
    ),
  );
  return true;
}

const keyOf = ({ name, port }: PathBackend): string => `${name}/${port}`;

/** The texts with variables besides the URL. */
function textsOf(setting: Setting, context: GroupContext): readonly string[] {
  const named = referenceForm({ optionalNamespace: true }).parse(setting(authProxySetHeaders) ?? "");
  const fields = named.ok ? readConfigMapFields(named.value, context) : named;
  return [
    ...[setting(authSignin), setting(authCacheKey), setting(authRequestRedirect)].map((text) => text ?? ""),
    ...(fields.ok ? fields.value.map(({ value }) => value) : []),
  ];
}

const silent: Pick<GroupContext, "ignore" | "differs" | "report"> = {
  report: () => undefined,
  ignore: () => undefined,
  differs: () => undefined,
};

type Common = Omit<UrlCheck, "scheme" | "authority" | "target" | "service">;

/** All settings of a check except the URL; undefined if the paths are closed. */
function readCommon(setting: Setting, context: GroupContext, options: TemplateOptions): Common | undefined {
  const method = setting(authMethod);
  const set = readFields(setting, context, options);
  const cache = readCache(setting, context, options);
  if (set === undefined || cache === "closed") return undefined;
  const signIn = readSignIn(setting, context, options);
  return {
    method: method ?? "GET",
    timeoutMs,
    set,
    responseHeaders: readResponseHeaders(setting, context),
    ...(signIn !== undefined && { signIn }),
    ...(setting(authAlwaysSetCookie) === true && { alwaysSetsCookie: true }),
    ...(cache !== undefined && { cache }),
  };
}

/** The fields that ingress-nginx sends. Those of the ConfigMap replace fields of the same name. */
function readFields(
  setting: Setting,
  context: GroupContext,
  options: TemplateOptions,
): UrlCheck["set"] | undefined {
  const refuse = refuseWith(context);
  const { set, fields } = createCheckFields();
  const add = (name: string, text: string): Result<RequestTemplate> => {
    const value = parseRequestTemplate(text, options);
    if (value.ok) set({ name, value: value.value });
    return value;
  };
  add("X-Sent-From", "nginx-ingress-controller");
  if (setting(authMethod) !== undefined) {
    add("X-Original-URI", "$request_uri");
    add("X-Scheme", "$pass_access_scheme");
  }
  const redirect = add("X-Auth-Request-Redirect", setting(authRequestRedirect) ?? "$request_uri");
  if (!redirect.ok) return refuse(authRequestRedirect, describeProblem(redirect.error));
  const named = setting(authProxySetHeaders);
  if (named === undefined) return fields();
  const reference = referenceForm({ optionalNamespace: true }).parse(named);
  const ofMap = reference.ok ? readConfigMapFields(reference.value, context) : reference;
  if (!ofMap.ok) return refuse(authProxySetHeaders, describeProblem(ofMap.error));
  for (const { name, value } of ofMap.value) {
    const added = add(name, textOfWireForm(value));
    if (!added.ok) return refuse(authProxySetHeaders, `${name}: ${describeProblem(added.error)}`);
  }
  return fields();
}

function readResponseHeaders(setting: Setting, { differs }: GroupContext): readonly string[] {
  const names = [...new Set((setting(authResponseHeaders) ?? []).map((name) => name.toLowerCase()))];
  const refused = names.filter((name) => !mayBeIdentityHeader(name));
  if (refused.length > 0) {
    differs(authResponseHeaders, `${refused.join(", ")} cannot be set by a service and is left out`);
  }
  return names.filter(mayBeIdentityHeader);
}

/** The sign-in URL with the URL to return to; undefined if there is none. */
function readSignIn(
  setting: Setting,
  context: GroupContext,
  options: TemplateOptions,
): RequestTemplate | undefined {
  const url = setting(authSignin);
  if (url === undefined) return undefined;
  const text = withReturnUrl(url, setting(authSigninRedirectParam) ?? "rd");
  const template = parseRequestTemplate(text, options);
  if (template.ok) return template.value;
  context.ignore(authSignin, describeProblem(template.error));
  return undefined;
}

/** The cache settings of answers; undefined if answers are not cached. */
function readCache(
  setting: Setting,
  { close }: GroupContext,
  options: TemplateOptions,
): UrlCheck["cache"] | "closed" | undefined {
  const text = setting(authCacheKey);
  if (text === undefined) return undefined;
  const key = parseRequestTemplate(text, options);
  if (!key.ok) {
    close(authCacheKey, describeProblem(key.error));
    return "closed";
  }
  if (!templateVariables(key.value).some(identifiesClient)) {
    close(
      authCacheKey,
      "the key has no part that differs between clients, such as $http_authorization or $cookie_<name>, so that one would get the answer of another",
      sharedAuthCache,
    );
    return "closed";
  }
  const times = readCacheTimes(setting(authCacheDuration) ?? ["200 202 401 5m"]);
  if (times.ok) return { key: key.value, times: times.value };
  close(authCacheDuration, describeProblem(times.error));
  return "closed";
}
