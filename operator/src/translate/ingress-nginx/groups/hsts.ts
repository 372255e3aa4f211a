/** `Strict-Transport-Security` on responses over TLS. See docs/ingress-nginx.md, "https". */
import type { Group } from "./group.ts";

export const hsts: Group = (_, { nginx }) => {
  const { keys } = nginx.config;
  if (!keys.hsts) return {};
  const value = [
    `max-age=${keys.hstsMaxAge}`,
    ...(keys.hstsIncludeSubdomains ? ["includeSubDomains"] : []),
    ...(keys.hstsPreload ? ["preload"] : []),
  ].join("; ");
  return {
    features: { "response-headers": { setOverTls: [{ name: "Strict-Transport-Security", value }] } },
  };
};
