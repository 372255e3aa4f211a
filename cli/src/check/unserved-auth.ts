/** Finds authentication by URLs that no manifest serves: every request would be answered 500 (docs/cli.md, "check"). */
import { annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { literalOf } from "@svc-gateway/common/features/request-template.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { keyField } from "@svc-gateway/operator/translate/diagnostics/define-finding.ts";
import { authUrlNotServed } from "@svc-gateway/operator/translate/diagnostics/ingress-nginx.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import { isRest } from "@svc-gateway/operator/translate/ingress/claims.ts";
import type { ServedHost } from "@svc-gateway/operator/translate/routing.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { FolderSettings } from "../command-flags.ts";

type Settings = Pick<FolderSettings, "ingressNginxAnnotationsPrefix">;

/**
 * Returns a finding for each Ingress whose `auth-url`, or SvcExternalAuth with a URL, names a host or path that no
 * manifest serves. In a cluster, other objects could serve it.
 */
export function findUnservedAuth(
  { routing: { hosts }, nginxReports }: Translation,
  { ingressNginxAnnotationsPrefix: prefix }: Settings,
): readonly Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  const ofNginx = new Set(nginxReports.map(({ object }) => formatRef(object)));
  for (const { host, value } of hosts) {
    for (const { source, features } of value.routes) {
      if (source.kind !== "Ingress") continue;
      for (const { url } of features?.["ext-auth"] ?? []) {
        const why = url && whyUnanswered(url, host.kind === "exact" ? host.host : undefined, hosts);
        if (why === undefined) continue;
        const object = { kind: "Ingress", namespace: source.namespace, name: source.name };
        const annotation = ofNginx.has(formatRef(object)) ? "auth-url" : "ext-auth";
        const key = `${annotation === "ext-auth" ? annotationPrefix : `${prefix}/`}${annotation}`;
        const place = { object, field: keyField("metadata.annotations", key) };
        const finding = authUrlNotServed(place, annotation, why);
        found.set(JSON.stringify([object, finding.message]), finding);
      }
    }
  }
  return [...found.values()];
}

/** Returns why a URL is not answered, or undefined if it can be. `own` is the host of the route, if it is one name. */
function whyUnanswered(
  { service, authority, target }: UrlCheck,
  own: string | undefined,
  hosts: readonly ServedHost[],
): string | undefined {
  if (service !== undefined) return undefined;
  const isOwn =
    authority.length === 1 && typeof authority[0] === "object" && authority[0].variable === "host";
  const name = isOwn ? own : literalOf(authority)?.replace(/:\d+$/, "").toLowerCase();
  if (name === undefined) return undefined;
  const serving = hosts.filter(({ host }) => host.kind === "exact" && host.host === name);
  const wildcard = `*${name.slice(name.indexOf("."))}`;
  // Routes for all hosts do not serve such requests (docs/ingress-nginx.md, "Authentication by URL").
  const candidates = serving.length > 0 ? serving : hosts.filter(({ host }) => host.host === wildcard);
  if (candidates.length === 0) return `no manifest serves the host ${name}`;
  const path = literalOf(target)?.replace(/\?.*$/s, "");
  if (path === undefined) return undefined;
  const routes = candidates
    .flatMap(({ value }) => value.routes)
    .filter((route) => !isRest(route) && takes(route, path));
  if (routes.length === 0) return `no manifest serves the path ${path} on the host ${name}`;
  const isLoop = routes.every(
    ({ features }) => features?.["ext-auth"]?.some(({ url }) => url !== undefined) === true,
  );
  return isLoop ? `the path ${path} on the host ${name} is behind authentication by URL itself` : undefined;
}

/** Whether a route can match a path; whether another one is more specific is not considered. */
function takes({ match: { path } }: Route, asked: string): boolean {
  if (path.type === "exact") return asked === path.value;
  if (path.type === "regex") return true;
  return path.value === "/" || asked === path.value || asked.startsWith(`${path.value}/`);
}
