/** Cross-origin requests. See docs/features/cors.md, "On every response". */
import type { Cors } from "@svc-gateway/common/features/cors.ts";
import { quote } from "../../text.ts";
import {
  corsAllowCredentials,
  corsAllowHeaders,
  corsAllowMethods,
  corsAllowOrigin,
  corsExposeHeaders,
  corsMaxAge,
  enableCors,
} from "../annotations/cors.ts";
import { nginxKey } from "../class.ts";
import type { Group, GroupContext } from "./group.ts";
import { reportPartners } from "./partners.ts";

const details = [
  corsAllowOrigin,
  corsAllowMethods,
  corsAllowHeaders,
  corsAllowCredentials,
  corsExposeHeaders,
  corsMaxAge,
];

export const cors: Group = (read, context) => {
  if (read(enableCors) !== true) {
    reportPartners(details, 'has no effect without enable-cors: "true"', read, context);
    return {};
  }
  const { allowed, refused } = read(corsAllowOrigin) ?? { allowed: [], refused: [] };
  const isBlank = isBlankOf(context);
  if (refused.length > 0 || isBlank) reportRefused(context, refused, allowed.length === 0 || isBlank);
  const expose = read(corsExposeHeaders);
  const value: Cors = {
    allowOrigins: isBlank ? [] : allowed,
    allowCredentials: read(corsAllowCredentials) !== false,
    allowMethods: [read(corsAllowMethods)].filter((text) => text !== undefined),
    allowHeaders: [read(corsAllowHeaders)].filter((text) => text !== undefined),
    exposeHeaders: expose === undefined ? [] : [expose],
    maxAgeSeconds: read(corsMaxAge) ?? 0,
    onEveryResponse: true,
    early: true,
  };
  return { features: { cors: value } };
};

/**
 * Whether the list consists of blanks and commas. It then permits no origin, although a blank value counts as
 * absent elsewhere.
 */
function isBlankOf({ ingress, nginx }: GroupContext): boolean {
  const raw = ingress.metadata.annotations?.[nginxKey(corsAllowOrigin, nginx.settings)];
  return raw !== undefined && raw !== "" && raw.replaceAll(",", "").trim() === "";
}

function reportRefused({ usePartly }: GroupContext, refused: readonly string[], isEmpty: boolean): void {
  const [first] = refused;
  const what =
    first === undefined
      ? "holds no origin"
      : `${quote(first)}${refused.length > 1 ? ` and ${refused.length - 1} more are not origins` : " is not an origin"}`;
  const consequence = isEmpty
    ? "no origin is permitted, where ingress-nginx may permit every one"
    : "the rest of the list is used";
  usePartly(
    corsAllowOrigin,
    `${what}, expected origins such as "https://app.example.com" or "https://*.example.com" with commas; ${consequence}`,
  );
}
