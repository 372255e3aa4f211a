/** Redirects to a whole URL, and settings of hosts as a whole. See docs/ingress-nginx.md, "Redirects". */
import { redirect, type Redirect } from "@svc-gateway/common/features/redirect.ts";
import {
  literalOf,
  parseRequestTemplate,
  type RequestTemplate,
} from "@svc-gateway/common/features/request-template.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { aliasRefused } from "../../diagnostics/nginx-hosts.ts";
import { hasOwnValue } from "../../features/annotation-reader.ts";
import { parseIngressHost } from "../../ingress/host.ts";
import { quote } from "../../text.ts";
import {
  fromToWwwRedirect,
  permanentRedirect,
  permanentRedirectCode,
  relativeRedirects,
  temporalRedirect,
  temporalRedirectCode,
} from "../annotations/redirects.ts";
import { sslPassthrough } from "../annotations/hosts.ts";
import { appRoot, serverAlias } from "../annotations/routing.ts";
import type { NginxAnnotation } from "../annotations/declare.ts";
import type { Alias } from "../host-facts.ts";
import type { Group, GroupContext } from "./group.ts";
import { reportPartners } from "./partners.ts";

const { redirectStatusCode: ownStatus } = redirect.annotations;

export const urlRedirects: Group = (read, context) => {
  const codeOf = (annotation: NginxAnnotation<number>, last: number, otherwise: number): number => {
    // The status of this gateway has an effect on the URL of ingress-nginx if the Ingress itself sets it.
    const isOwn =
      read.sourceOf(annotation) === "own" &&
      hasOwnValue(context.ingress.metadata.annotations ?? {}, ownStatus);
    const code = isOwn ? context.own(ownStatus) : read(annotation);
    return code === undefined || code < 300 || code > last ? otherwise : code;
  };
  const readUrl = (annotation: NginxAnnotation<string>): Redirect["url"] => {
    const url = read(annotation);
    return url === undefined ? undefined : urlOf(url, (why) => context.ignore(annotation, why));
  };
  const temporal = readUrl(temporalRedirect);
  const permanent = readUrl(permanentRedirect);
  const url = temporal ?? permanent;
  const statusCode =
    temporal === undefined ? codeOf(permanentRedirectCode, 308, 301) : codeOf(temporalRedirectCode, 307, 302);
  if (temporal !== undefined && permanent !== undefined) {
    context.noEffect(permanentRedirect, "temporal-redirect takes precedence");
    reportPartners([permanentRedirectCode], "temporal-redirect takes precedence", read, context);
  }
  if (temporal === undefined) {
    reportPartners([temporalRedirectCode], "has no effect without temporal-redirect", read, context);
  }
  if (permanent === undefined) {
    reportPartners([permanentRedirectCode], "has no effect without permanent-redirect", read, context);
  }
  const root = read(appRoot);
  const aliases = readAliases(read(serverAlias) ?? [], context);
  return {
    ...(url !== undefined && { features: { redirect: { early: true, statusCode, url } } }),
    host: {
      ...(root !== undefined && {
        appRoot: {
          early: true,
          origin: read(relativeRedirects) === true ? "none" : "received",
          path: { type: "full", value: root },
          query: "none",
          statusCode: 302,
        },
      }),
      ...(read(sslPassthrough) === true && context.nginx.settings.sslPassthrough && { passthrough: true }),
      ...(aliases.length > 0 && { aliases }),
      ...(read(fromToWwwRedirect) === true && {
        www: { cutSlash: true, statusCode: context.nginx.config.keys.httpRedirectCode },
      }),
    },
  };
};

/** A URL that begins with "http", with variables of the request; undefined for any other text. */
function urlOf(text: string, report: (why: string) => void): string | RequestTemplate | undefined {
  if (!/^http[a-z0-9+.-]*:/i.test(text)) {
    report(`${quote(text)} is not a URL of http or https`);
    return undefined;
  }
  const template = parseRequestTemplate(text);
  if (!template.ok) {
    report(describeProblem(template.error));
    return undefined;
  }
  return literalOf(template.value) ?? template.value;
}

/** The maximum number of aliases of an Ingress. Each alias has all routes of its host. */
const maxAliases = 100;

function readAliases(names: readonly string[], { report, ingress }: GroupContext): readonly Alias[] {
  const aliases: Alias[] = [];
  const hosts = (ingress.spec?.rules ?? []).flatMap(({ host }) => host?.toLowerCase() ?? []);
  const isBelowOwn = (wildcard: string): boolean =>
    hosts.some((host) => wildcard.slice(1) === `.${host}` || wildcard.endsWith(`.${host}`));
  for (const name of names) {
    const refuse = (why: string): void =>
      report(serverAlias, (place) => aliasRefused(place, name, why), {
        outcome: "differently",
        text: `${quote(name)} is not served: ${why}`,
      });
    if (name.startsWith("~")) {
      refuse("regular expressions could take hosts of others");
      continue;
    }
    const host = parseIngressHost(name);
    if (!host.ok) refuse(describeProblem(host.error));
    else if (host.value.kind === "wildcard" && !isBelowOwn(host.value.host)) {
      refuse("a wildcard must be below a host of the rules of this Ingress");
    } else if (aliases.length === maxAliases) {
      refuse(`an Ingress has at most ${maxAliases} aliases`);
      break;
    } else if (!aliases.some((one) => one.host === host.value.host)) aliases.push(host.value);
  }
  return aliases;
}
