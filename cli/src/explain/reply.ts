/** What the gateway answers a request itself, although a route with backends takes it. */
import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { presentFeatures } from "@svc-gateway/proxy/filters/compile.ts";
import { redirectReply } from "@svc-gateway/proxy/filters/location.ts";
import { redirectParts } from "@svc-gateway/proxy/filters/redirect.ts";
import { sslRedirectParts } from "@svc-gateway/proxy/filters/ssl-redirect.ts";
import type { LocalReply } from "@svc-gateway/proxy/http/local-reply.ts";

export type ExplainedReply = {
  /** The filter that answers. */
  readonly by: FeatureSlug;
  readonly status: number;
  /** Where the client is sent. */
  readonly location?: string;
  /** Filters before it that may refuse the request. */
  readonly after: readonly FeatureSlug[];
};

type Asked = {
  readonly request: { readonly host: string; readonly path: string; readonly query: string };
  readonly secure: boolean;
  /** The port that clients see of the listener whose route takes the request. */
  readonly publicPort: number;
  readonly features: RouteFeatures | undefined;
  /** The endpoints of a set, by its name. */
  readonly endpointsOf: (name: string) => readonly string[];
};

/** Undefined: whether the gateway answers itself depends on who asks, on the body, or on what happened before. */
export function explainReply({
  request,
  secure,
  publicPort,
  features = {},
  endpointsOf,
}: Asked): ExplainedReply | undefined {
  const exchange = { ...request, secure, publicPort: { port: publicPort } };
  const unavailable: LocalReply = { status: 503 };
  const replies: { readonly [S in FeatureSlug]?: () => LocalReply | undefined } = {
    "ssl-redirect": () => {
      const settings = features["ssl-redirect"];
      return settings === undefined || secure
        ? undefined
        : redirectReply(exchange, settings.statusCode, sslRedirectParts(settings));
    },
    "auth-basic-secret": () =>
      features["auth-basic-secret"]?.some(({ htpasswd }) => htpasswd === undefined) ? unavailable : undefined,
    "auth-jwt": () =>
      features["auth-jwt"]?.some(({ rules }) => rules === undefined) ? unavailable : undefined,
    "ext-auth": () =>
      features["ext-auth"]?.some(
        ({ check }) => check === undefined || endpointsOf(check.endpoints).length === 0,
      )
        ? unavailable
        : undefined,
    redirect: () =>
      features.redirect &&
      redirectReply(exchange, features.redirect.statusCode, redirectParts(features.redirect)),
  };
  const after: FeatureSlug[] = [];
  for (const slug of presentFeatures(features)) {
    const reply = replies[slug]?.();
    if (reply !== undefined) {
      const location = reply.headers?.[1];
      return { by: slug, status: reply.status, ...(location !== undefined && { location }), after };
    }
    if (refusing.has(slug)) after.push(slug);
  }
  return undefined;
}

const refusing: ReadonlySet<FeatureSlug> = new Set([
  "ip-access-control",
  "rate-limit",
  "max-body-size",
  "auth-basic-secret",
  "auth-jwt",
  "ext-auth",
]);
