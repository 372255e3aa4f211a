/** Findings about settings of canaries that have no effect. See docs/ingress-nginx.md, "Canaries". */
import {
  canary,
  canaryByCookie,
  canaryByHeader,
  canaryByHeaderPattern,
  canaryByHeaderValue,
  canaryWeight,
  canaryWeightTotal,
} from "../annotations/canary.ts";
import type { Group } from "./group.ts";
import { reportPartners } from "./partners.ts";

const ofCanary = [
  ...[canaryWeight, canaryWeightTotal, canaryByCookie],
  ...[canaryByHeader, canaryByHeaderValue, canaryByHeaderPattern],
];

/** The settings themselves are read by `readCanary`. */
export const canaries: Group = (read, context) => {
  if (read(canary) !== true) {
    reportPartners(ofCanary, 'has no effect without canary: "true"', read, context);
  } else if (read(canaryByHeader) === undefined) {
    const ofHeader = [canaryByHeaderValue, canaryByHeaderPattern];
    reportPartners(ofHeader, "has no effect without canary-by-header", read, context);
  } else if (read(canaryByHeaderValue) !== undefined) {
    const why = "has no effect beside canary-by-header-value";
    reportPartners([canaryByHeaderPattern], why, read, context);
  }
  return {};
};
