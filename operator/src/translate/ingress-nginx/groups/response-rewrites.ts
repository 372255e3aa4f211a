/** Replacements in cookies and redirects of backends. See docs/features/response-headers.md. */
import type { Replacement, ResponseHeaders } from "@svc-gateway/common/features/response-headers.ts";
import {
  proxyCookieDomain,
  proxyCookiePath,
  proxyRedirectFrom,
  proxyRedirectTo,
} from "../annotations/forwarding.ts";
import type { Group, GroupContext } from "./group.ts";
import type { NginxReader } from "../reader.ts";

export const responseRewrites: Group = (read, context) => {
  const cookieDomain = pairOf(read(proxyCookieDomain));
  const cookiePath = pairOf(read(proxyCookiePath));
  const location = redirectOf(read, context);
  const value: ResponseHeaders = {
    ...(cookieDomain && { cookieDomain }),
    ...(cookiePath && { cookiePath }),
    ...(location && { location }),
  };
  return Object.keys(value).length === 0 ? {} : { features: { "response-headers": value } };
};

/** Reads two words; undefined for `off`. */
function pairOf(text = "off"): Replacement | undefined {
  const [from, to] = text.split(/ +/);
  return from === undefined || to === undefined ? undefined : { from, to };
}

function redirectOf(read: NginxReader, { noEffect }: GroupContext): Replacement | undefined {
  const from = read(proxyRedirectFrom) ?? "off";
  const to = read(proxyRedirectTo) ?? "off";
  const hasFrom = from !== "off" && from !== "default";
  if (hasFrom && to !== "off") return { from, to };
  if (hasFrom) noEffect(proxyRedirectFrom, "has no effect without proxy-redirect-to");
  if (to !== "off" && read.sourceOf(proxyRedirectTo) === "annotation") {
    noEffect(proxyRedirectTo, `has no effect with proxy-redirect-from: "${from}"`);
  }
  return undefined;
}
