/** Findings about settings of canaries that have no effect. See docs/ingress-nginx.md, "Canaries". */
import {
  canaryByCookie,
  canaryByHeader,
  canaryByHeaderPattern,
  canaryByHeaderValue,
  canaryWeight,
  canaryWeightTotal,
} from "../annotations/canary.ts";
import { readCanarySettings } from "../canary.ts";
import type { Group } from "./group.ts";
import { reportPartners } from "./partners.ts";

const ofCanary = [
  ...[canaryWeight, canaryWeightTotal, canaryByCookie],
  ...[canaryByHeader, canaryByHeaderValue, canaryByHeaderPattern],
];

/** The rule itself is read by `readCanary`. */
export const canaries: Group = (read, context) => {
  const { isCanary, header, value } = readCanarySettings(read, context.own);
  if (!isCanary) {
    reportPartners(ofCanary, 'has no effect without canary: "true"', read, context);
  } else if (header === undefined) {
    const ofHeader = [canaryByHeaderValue, canaryByHeaderPattern];
    reportPartners(ofHeader, "has no effect without canary-by-header", read, context);
  } else if (value !== undefined) {
    const why = "has no effect beside canary-by-header-value";
    reportPartners([canaryByHeaderPattern], why, read, context);
  }
  return {};
};
