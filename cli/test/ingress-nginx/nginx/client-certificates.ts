/** Client certificates, as the template of ingress-nginx writes them. */
import type { ServerFiles } from "./server-files.ts";
import type { Site, SiteIngress } from "./sites.ts";

/** The first Ingress of a host that requests client certificates. */
const askingOf = ({ ingresses }: Site): SiteIngress | undefined =>
  ingresses.find(({ annotations }) => annotations["auth-tls-secret"] !== undefined);

/** The lines of the server of the host; none if it requests no client certificates. */
export function clientServerLines(site: Site, files: ServerFiles): readonly string[] {
  const asking = askingOf(site);
  if (asking === undefined) return [];
  const { annotations: a, namespace } = asking;
  const depth = Number(a["auth-tls-verify-depth"] ?? 1);
  const page = a["auth-tls-error-page"];
  const subject = a["auth-tls-match-cn"];
  return [
    `ssl_client_certificate ${files.authorityOf(namespace, (a["auth-tls-secret"] ?? "").replace(/^.*\//, ""))};`,
    `ssl_verify_client ${a["auth-tls-verify-client"] ?? "on"};`,
    `ssl_verify_depth ${depth === 0 ? 1 : depth};`,
    ...(page === undefined ? [] : [`error_page 495 496 = ${page};`]),
    ...(subject === undefined
      ? []
      : [`if ($ssl_client_s_dn !~ "${subject}") { return 403 "client certificate unauthorized"; }`]),
  ];
}

/** The lines by which each location of the host sends client certificates upstream. */
export function clientFieldLines(site: Site): readonly string[] {
  const asking = askingOf(site);
  if (asking === undefined) return [];
  const passes = asking.annotations["auth-tls-pass-certificate-to-upstream"] === "true";
  return [
    `proxy_set_header ssl-client-cert ${passes ? "$ssl_client_escaped_cert" : '""'};`,
    "proxy_set_header ssl-client-verify $ssl_client_verify;",
    "proxy_set_header ssl-client-subject-dn $ssl_client_s_dn;",
    "proxy_set_header ssl-client-issuer-dn $ssl_client_i_dn;",
  ];
}
