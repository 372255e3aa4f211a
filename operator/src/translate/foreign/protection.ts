/** The protections of other controllers' annotations, recognised by their names. See docs/foreign-annotations.md. */
import { nginxAnnotations } from "../ingress-nginx/annotations/index.ts";
import { blocksRequests } from "../ingress-nginx/snippets/modsecurity.ts";
import { readSnippet } from "../ingress-nginx/snippets/read.ts";
import { readValue } from "../ingress-nginx/value.ts";

/** A protection that is missing if an annotation has no effect, as the end of a sentence about requests. */
export type Protection = {
  readonly missing: string;
  readonly pattern: RegExp;
};

/** The first match counts: `auth-tls-secret`, for example, is about certificates. */
const protections: readonly Protection[] = [
  {
    missing: "clients are not asked for a certificate",
    pattern: /auth-tls|client[-_.]?(?:ca|crt|cert)|mtls|mutual|tls[-_.]options|frontend-validation/,
  },
  {
    missing: "no firewall inspects requests",
    pattern: /modsecurity|owasp|\bwaf|waf\b|-waf-|app-?protect|appprotect|shield|\bbot\b|csrf|armor/,
  },
  { missing: "requests are not limited", pattern: /(?:^|[-_.])(?:rate)?limit(?:$|[-_.])|throttl/ },
  {
    missing: "client addresses are not restricted",
    pattern:
      /(?:white|allow|black|deny|block)[-_]?list|source[-_]?range|(?:allow|deny|block|inbound)[-_](?:cidr|ip|prefix|user-agent|referer)|security-groups/,
  },
  { missing: "origins are not restricted", pattern: /cors[-_]allow[-_]origin|cors[-_]origin/ },
  {
    missing: "the certificates of backends are not verified",
    pattern: /proxy-ssl-verify$|(?:secure|server|backend)[-_](?:verify|ca\b)/,
  },
  {
    missing: "requests are not authenticated",
    pattern: /\bo?auth|oidc|\bjwt|\bsatisfy|allowed_(?:user|group|domain)/,
  },
  {
    missing: "configuration that may protect the routes is not applied",
    pattern: /middlewares|plugins?$|polic(?:y|ies)|snippets?$|filter$|backend-config/,
  },
];

/** Names that look protective but are not: detection only, and the name of a log entry. */
const harmless: ReadonlySet<string> = new Set(["enable-modsecurity", "modsecurity-transaction-id"]);

/**
 * Whether an annotation admits every address, as those that cert-manager sets on the Ingresses of its challenges do.
 */
export function allowsEveryone(name: string, value: string): boolean {
  const ranges = value.split(",").map((range) => range.trim());
  return /(?:white|allow)list/.test(name) && ranges.includes("0.0.0.0/0") && ranges.includes("::/0");
}

/** Values that switch a protection off, or that have no effect. */
const off: ReadonlySet<string> = new Set(["", "false", "off", "0", "none", "disabled"]);

const snippets: ReadonlySet<string> = new Set([
  "auth-snippet",
  "configuration-snippet",
  "server-snippet",
  "stream-snippet",
]);

/**
 * The missing protection of an annotation of ingress-nginx, by its declaration. For a snippet, the statements
 * decide.
 */
export function missingOfNginx(name: string, value: string): string | undefined {
  if (snippets.has(name)) {
    const { statementsFor, problem } = readSnippet(value);
    const statements = statementsFor();
    const protects = problem?.isProtective ?? statements.some(({ kind }) => kind === "protective");
    return protects ? "statements that protect are not executed" : undefined;
  }
  if (name === "modsecurity-snippet") {
    return blocksRequests(value) ? "no firewall inspects requests" : undefined;
  }
  const annotation = nginxAnnotations.get(name);
  const read = annotation && readValue(annotation, value);
  if (read?.ok === true && annotation?.isNeutral?.(read.value) === true) return undefined;
  const found = missingProtection(name, value);
  if (found !== undefined || annotation?.protective !== true || off.has(value.trim().toLowerCase()))
    return found;
  return harmless.has(name) || name === "satisfy" || name === "cors-allow-origin"
    ? undefined
    : "requests are served without this protection";
}

/**
 * The missing protection of another controller's annotation; undefined if its name protects nothing, or if its value
 * switches the protection off. A name that looks protective counts as protective: the finding is then an error.
 */
export function missingProtection(name: string, value: string): string | undefined {
  const text = value.trim().toLowerCase();
  if (off.has(text) || harmless.has(name)) return undefined;
  const found = protections.find(({ pattern }) => pattern.test(name.toLowerCase()))?.missing;
  if (found === undefined) {
    return name === "scheme" && text === "internal"
      ? "clients outside the network are not kept away"
      : undefined;
  }
  if (name.endsWith("origin") && text === "*") return undefined;
  return name === "satisfy" && text === "all" ? undefined : found;
}
