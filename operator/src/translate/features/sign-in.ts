/** The URL at which clients sign in. See docs/features/ext-auth.md. */

/**
 * Adds the URL to return to as the parameter `param`, unless the URL already has it. The URL to return to
 * consists of scheme and host as backends see them, and the percent-encoded path and query of the request. The
 * result is a request template (docs/request-templates.md).
 */
export function withReturnUrl(url: string, param: string): string {
  const query = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  const isThere = query
    .split("&")
    .some((pair) => pair.startsWith(`${param}=`) && pair.length > param.length + 1);
  if (isThere) return url;
  const separator = query === "" ? (url.includes("?") ? "" : "?") : "&";
  return `${url}${separator}${param}=$pass_access_scheme://$http_host$escaped_request_uri`;
}
