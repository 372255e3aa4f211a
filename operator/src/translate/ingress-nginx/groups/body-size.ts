/** The largest request body. See docs/ingress-nginx.md, "Bodies". */
import { proxyBodySize } from "../annotations/forwarding.ts";
import type { Group } from "./group.ts";

/** `0` means no limit. As in nginx, the length is checked before redirects and address rules. */
export const bodySize: Group = (read) => {
  const maxBytes = read(proxyBodySize);
  if (maxBytes === undefined || maxBytes === 0) return {};
  return { features: { "max-body-size": { early: true, maxBytes } } };
};
