/** Predicts the results of filters that depend on the client or call a service, as far as they are certain. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { compileIdentityStripper } from "@svc-gateway/proxy/auth/identity-headers.ts";
import type { Fields } from "@svc-gateway/proxy/message/fields.ts";
import type { LocalReply } from "@svc-gateway/proxy/message/local-reply.ts";
import type { ExplainedRequest } from "./request.ts";

type Known = {
  readonly asked: Pick<ExplainedRequest, "headers">;
  /** The features of the route. */
  readonly features: RouteFeatures | undefined;
  /** Whether the endpoint set of this name has endpoints. */
  readonly hasEndpoints: (name: string) => boolean;
};

/**
 * Returns the reply of a filter if it is certain, or `depends` if it depends on the client, the body or earlier
 * requests. Undefined if the filter itself can run.
 */
export function predictFilter(
  slug: string,
  { asked, features = {}, hasEndpoints }: Known,
): LocalReply | "depends" | undefined {
  switch (slug) {
    case "rate-limit":
    case "satisfy":
    case "max-body-size":
      return "depends";
    case "ip-access-control": {
      const { unavailable, blocked = [], deny = [], allow } = features[slug] ?? {};
      if (unavailable === true) return undefined;
      const refused = [...blocked, ...deny];
      const isClosedToAll =
        allow?.length === 0 || ["0.0.0.0/0", "::/0"].every((all) => refused.includes(all));
      return isClosedToAll ? { status: 403 } : "depends";
    }
    case "auth-basic-secret": {
      // Passwords are verified on a worker thread, which `explain` does not start.
      const isUsable = features[slug]?.every(({ htpasswd }) => htpasswd !== undefined) === true;
      return isUsable && asked.headers.joined("authorization") !== undefined ? "depends" : undefined;
    }
    case "auth-jwt": {
      const rules = features[slug]?.map((one) => one.rules) ?? [];
      if (rules.includes(undefined)) return undefined;
      // Tokens cannot be verified here, because remote key sets are fetched only by serving processes.
      const hasTokens = rules.every((one) =>
        one?.fromHeaders.some(({ name }) => asked.headers.joined(name.toLowerCase()) !== undefined),
      );
      return hasTokens ? "depends" : { status: 401 };
    }
    case "ext-auth": {
      const entries = features[slug] ?? [];
      if (entries.some(({ check, url }) => check === undefined && url === undefined)) return undefined;
      // `failClosed: false` admits requests if a service fails, not if it has no endpoint (docs/features/ext-auth.md).
      const isMissing = entries.some(({ check }) => check !== undefined && !hasEndpoints(check.endpoints));
      if (isMissing) return { status: 503 };
      const isFailing = entries.some(
        ({ url }) =>
          url?.service !== undefined &&
          url.service.unlessServed !== true &&
          !hasEndpoints(url.service.endpoints),
      );
      if (isFailing) return { status: 500 };
      return "depends";
    }
    default:
      return undefined;
  }
}

/**
 * Changes the fields of an admitted request as the check of a token or the answer of a service would. Values that
 * depend on the client are placeholders in angle brackets.
 */
export function addIdentityHeaders(slug: string, features: RouteFeatures = {}, headers: Fields): void {
  if (slug === "auth-jwt") {
    const rules = features[slug]?.flatMap((one) => one.rules ?? []) ?? [];
    const spent = rules.filter(({ forward }) => !forward).flatMap(({ fromHeaders }) => fromHeaders);
    headers.remove(new Set(spent.map(({ name }) => name.toLowerCase())));
    const claims = rules.flatMap(({ claimToHeaders }) => claimToHeaders);
    compileIdentityStripper(claims.map(({ header }) => header))(headers);
    for (const { claim, header } of claims) headers.append(header, `<claim ${claim}>`);
  }
  if (slug === "ext-auth" || slug === "satisfy") {
    const names = features["ext-auth"]?.flatMap(
      ({ check, url }) => check?.allowedResponseHeaders ?? url?.responseHeaders ?? [],
    );
    compileIdentityStripper(names ?? [])(headers);
  }
}
