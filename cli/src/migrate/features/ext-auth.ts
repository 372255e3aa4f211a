/** Writes authorization by a URL. */
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { templateText } from "@svc-gateway/common/features/request-template.ts";
import { maxDurationMs } from "@svc-gateway/common/values/duration.ts";
import { createCheckFields } from "@svc-gateway/operator/translate/features/check-url.ts";
import { noteIf, policy, unsayable, type FeatureWriter } from "../written.ts";
import { durationText } from "./limits.ts";

/** The methods and limits of the schema of SvcExternalAuth. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const maxFields = 16;
const maxText = 2048;

const closed = (text: string): ReturnType<typeof unsayable> => unsayable("ext-auth", text, "closes");

export const writeExtAuth: FeatureWriter<"ext-auth"> = (asked, { define, namespace }) => {
  const [first, ...others] = asked;
  const check = first?.url;
  if (check === undefined || others.length > 0) return closed("No URL can be asked about requests");
  const { scheme, authority, target, service, method, responseHeaders, alwaysSetsCookie } = check;
  if (service?.unlessServed === true) return closed("Only hosts of this gateway and Services can be asked");
  const [ofService, , , variant] = service?.endpoints.split("/") ?? [];
  if (variant !== undefined) {
    return closed("Services that are asked over TLS need a BackendTLSPolicy, and http in the URL");
  }
  const url = `${scheme}://${templateText(authority)}${templateText(target)}`;
  const headers = furtherFields(check);
  if (!methods.has(method) || headers.length > maxFields || url.length > maxText) {
    return closed("The question has a method, a URL or fields that a SvcExternalAuth does not take");
  }
  const cache = cacheOf(check);
  const spec = {
    protocol: "HTTP",
    timeout: durationText(check.timeoutMs),
    ...(responseHeaders.length > 0 && { allowedResponseHeaders: responseHeaders }),
    http: {
      url,
      ...(method !== "GET" && { method }),
      ...(headers.length > 0 && { headers }),
      ...(check.signIn !== undefined && { signIn: signInOf(templateText(check.signIn)) }),
      ...(cache !== undefined && { cache }),
    },
  };
  return {
    annotations: { "ext-auth": `${namespace}/${define(policy("SvcExternalAuth", spec))}` },
    notes: [
      ...noteIf(
        ofService !== undefined && ofService !== namespace,
        "ext-auth",
        "lost",
        `Requests are answered 503 until a ReferenceGrant in namespace ${ofService} permits a reference from SvcExternalAuth to the Service`,
      ),
      ...noteIf(
        alwaysSetsCookie === true,
        "ext-auth[0].url.alwaysSetsCookie",
        "changed",
        "The cookie of the service goes to the client with the usual statuses only",
      ),
      ...noteIf(
        check.cache !== undefined && cache === undefined,
        "ext-auth[0].url.cache",
        "changed",
        "Every request is asked about: the times of the cache are not more than 0 and at most 24 hours",
      ),
    ],
  };
};

/** The fields of the question, except those that every question by URL has. */
function furtherFields({ set }: UrlCheck): readonly { readonly name: string; readonly value: string }[] {
  const textsOf = (fields: UrlCheck["set"]) =>
    fields.map(({ name, value }) => ({ name, value: templateText(value) }));
  const usual = new Map(textsOf(createCheckFields().fields()).map(({ name, value }) => [name, value]));
  return textsOf(set).filter(({ name, value }) => usual.get(name) !== value);
}

const returnUrl = "${pass_access_scheme}://${http_host}${escaped_request_uri}";

/** The sign-in URL without the parameter for the return URL, which the gateway adds to it. */
function signInOf(text: string): { readonly url: string; readonly redirectParam?: string } {
  const query = text.slice(text.indexOf("?") + 1);
  const params = text.includes("?") ? query.split("&").map((pair) => pair.split("=", 1)[0] ?? "") : [];
  const param = params.includes("rd") ? "rd" : params.at(-1);
  const named = param === undefined || param === "rd" ? {} : { redirectParam: param };
  const added = [`?${param}=${returnUrl}`, `&${param}=${returnUrl}`].find((end) => text.endsWith(end));
  return { url: added === undefined ? text : text.slice(0, -added.length), ...named };
}

function cacheOf({ cache }: UrlCheck): object | undefined {
  if (cache === undefined || !cache.times.every(({ ms }) => ms > 0 && ms <= maxDurationMs)) return undefined;
  const times = cache.times.map(({ statuses, ms }) => ({
    ...(statuses !== undefined && { statuses }),
    duration: durationText(ms),
  }));
  return { key: templateText(cache.key), times };
}
