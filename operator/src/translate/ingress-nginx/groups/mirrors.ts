/** Copies of requests. See docs/features/mirror-target.md, "Copies with a URL of their own". */
import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import {
  literalOf,
  parseRequestTemplate,
  templateText,
  templateVariables,
  type RequestTemplate,
} from "@svc-gateway/common/features/request-template.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { backendNotVerified } from "../../diagnostics/ingress-nginx.ts";
import { quote } from "../../text.ts";
import { mirrorHost, mirrorRequestBody, mirrorTarget } from "../annotations/responses.ts";
import { splitUrl, type UrlParts } from "../../features/check-url.ts";
import { findAuthService } from "../auth-target.ts";
import { backendOfPath, backendsOf, type PathBackend } from "../path-backends.ts";
import type { NginxReader } from "../reader.ts";
import { optionsOf } from "../statics.ts";
import type { Group, GroupContext } from "./group.ts";
import { reportPartners } from "./partners.ts";

type Mirror = MirrorTarget[number];
type MirrorUrl = NonNullable<Mirror["url"]>;

/** A mirror that cannot be set up is omitted: copies must never prevent a request from being served. */
export const mirrors: Group = (read, context) => {
  const url = read(mirrorTarget);
  if (url === undefined) {
    reportPartners([mirrorHost, mirrorRequestBody], "has no effect without mirror-target", read, context);
    return {};
  }
  const found = new Map<string, Mirror>();
  for (const backend of backendsOf(context.ingress)) {
    const mirror = mirrorOf(url, backend, read, context);
    if (!mirror.ok) {
      context.usePartly(
        mirrorTarget,
        `${describeProblem(mirror.error)}; ingress-nginx would hand it to nginx, here requests are not mirrored`,
      );
      return {};
    }
    found.set(keyOf(backend), mirror.value);
  }
  return {
    ofPath(path) {
      const mirror = found.get(keyOf(backendOfPath(context.ingress, path)));
      return mirror && { "mirror-target": [mirror] };
    },
  };
};

const keyOf = ({ name, port }: PathBackend): string => `${name}/${port}`;

function mirrorOf(
  url: string,
  backend: PathBackend,
  read: NginxReader,
  context: GroupContext,
): Result<Mirror> {
  const split = splitUrl(url);
  if (!split.ok) return split;
  const parts = withPathVariable(split.value);
  const { ingress } = context;
  const parse = (text: string): Result<RequestTemplate> =>
    parseRequestTemplate(text, optionsOf(ingress, backend));
  const authority = parse(parts.authority);
  if (!authority.ok) return authority;
  const target = parse(parts.target);
  if (!target.ok) return target;
  const written = read(mirrorHost);
  const host = written === undefined ? authority : parse(written);
  if (!host.ok) return host;
  const place = findPlace(parts, authority.value, context);
  if (!place.ok) return place;
  const { servedHosts, ...where } = place.value;
  return ok({
    ...where,
    url: {
      scheme: parts.scheme,
      authority: host.value,
      target: withQuery(target.value, authority.value),
      ...(read(mirrorRequestBody) === false && { withoutBody: true }),
      ...(servedHosts && { servedHosts }),
    },
  });
}

/** Moves a variable that begins with a path from the authority to the target, as in `https://host$request_uri`. */
function withPathVariable({ scheme, authority, target }: UrlParts): UrlParts {
  const at = authority.search(/\$(?:request_uri\b|uri\b|\{request_uri\}|\{uri\})/i);
  if (at < 0) return { scheme, authority, target };
  return { scheme, authority: authority.slice(0, at), target: authority.slice(at) + target };
}

/** Adds the query of the request to a URL without variables, as nginx does. */
function withQuery(target: RequestTemplate, authority: RequestTemplate): RequestTemplate {
  if (templateVariables([...authority, ...target]).length > 0) return target;
  const isComplete = (literalOf(target) ?? "").includes("?");
  return isComplete ? target : [...target, { variable: "is_args" }, { variable: "args" }];
}

/** Finds the target of copies: the Service of the URL, otherwise the hosts that the gateway serves itself. */
function findPlace(
  { scheme }: UrlParts,
  authority: RequestTemplate,
  context: GroupContext,
): Result<Pick<Mirror, "service" | "endpoints" | "protocol"> & Pick<MirrorUrl, "servedHosts">> {
  const name = templateText(authority);
  const host = literalOf(authority);
  const service =
    host === undefined ? ok(undefined) : findAuthService({ scheme, authority: host }, context, "copies");
  if (!service.ok) return service;
  if (service.value === undefined) {
    context.differs(
      mirrorTarget,
      `${quote(name)} names no Service that the Ingress may use, so copies are sent only while this gateway serves the host`,
    );
    return ok({ service: name, protocol: "http1", servedHosts: true });
  }
  if (scheme === "https") {
    if (context.nginx.settings.requireBackendVerification) {
      return problem(
        `the certificate of ${quote(name)} would not be verified (--ingress-nginx-require-backend-verification)`,
      );
    }
    context.report(mirrorTarget, (where) =>
      backendNotVerified(
        where,
        "connections to the Service of mirror-target are encrypted, but its certificate is not verified, unless a BackendTLSPolicy, or tls of a SvcBackendPolicy, applies to it",
      ),
    );
  }
  const { endpoints, protocol, unlessServed } = service.value;
  const [namespace = "", serviceName = ""] = endpoints.split("/", 2);
  const label = unlessServed === true ? name : `${namespace}/${serviceName}`;
  return ok({ service: label, endpoints, protocol, ...(unlessServed && { servedHosts: true }) });
}
