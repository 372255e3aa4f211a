import type { Replacement, ResponseHeaders } from "@svc-gateway/common/features/response-headers.ts";
import type { Fields } from "../message/fields.ts";

type Rewrite = (value: string) => string;

/**
 * Compiles the changes to parts of response fields of backends: domain and path of cookies, and the URL of redirects.
 * Undefined if the route has none. See docs/features/response-headers.md, "Cookies and redirects of backends".
 */
export function compileResponseRewrites({
  cookieDomain,
  cookiePath,
  location,
}: Pick<ResponseHeaders, "cookieDomain" | "cookiePath" | "location">):
  ((headers: Fields) => void) | undefined {
  const byName = new Map<string, Rewrite>();
  const attributes = new Map<string, Rewrite>();
  if (cookieDomain !== undefined) attributes.set("domain", domainRewrite(cookieDomain));
  if (cookiePath !== undefined) attributes.set("path", prefixRewrite(cookiePath));
  if (attributes.size > 0) byName.set("set-cookie", (value) => rewriteAttributes(value, attributes));
  if (location !== undefined) {
    const rewrite = prefixRewrite(location);
    byName.set("location", rewrite);
    byName.set("refresh", (value) => rewriteRefresh(value, rewrite));
  }
  if (byName.size === 0) return undefined;
  return (headers) => {
    const isWritten = [...byName.keys()].some((name) => headers.has(name));
    if (isWritten) headers.rewrite((name, value) => byName.get(name.toLowerCase())?.(value));
  };
}

const prefixRewrite =
  ({ from, to }: Replacement): Rewrite =>
  (value) =>
    value.startsWith(from) ? to + value.slice(from.length) : value;

const withoutDot = (domain: string): string => (domain.startsWith(".") ? domain.slice(1) : domain);

function domainRewrite({ from, to }: Replacement): Rewrite {
  const wanted = withoutDot(from).toLowerCase();
  return (value) => {
    const bare = withoutDot(value);
    if (bare.toLowerCase() !== wanted) return value;
    return bare === value || to.startsWith(".") ? to : `.${to}`;
  };
}

/** Changes the attributes of a cookie (RFC 6265 4.1.1), which follow its name and value; everything else is kept. */
function rewriteAttributes(cookie: string, attributes: ReadonlyMap<string, Rewrite>): string {
  const [pair = "", ...rest] = cookie.split(";");
  const changed = rest.map((part) => {
    const equals = part.indexOf("=");
    const rewrite = equals < 0 ? undefined : attributes.get(part.slice(0, equals).trim().toLowerCase());
    if (rewrite === undefined) return part;
    const written = part.slice(equals + 1);
    const value = written.trim();
    return part.slice(0, equals + 1) + written.replace(value, () => rewrite(value));
  });
  return [pair, ...changed].join(";");
}

/** Changes the URL in a value of Refresh, which follows the seconds: `5; url=https://a.example/`. */
function rewriteRefresh(value: string, rewrite: Rewrite): string {
  const at = value.toLowerCase().indexOf("url=");
  return at < 0 ? value : value.slice(0, at + 4) + rewrite(value.slice(at + 4));
}
