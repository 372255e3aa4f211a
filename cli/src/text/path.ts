import type { PathMatch } from "@svc-gateway/common/ir/match.ts";

const pathTypes = { exact: "Exact", prefix: "Prefix", regex: "Regex" } as const;

/** Describes a path match as manifests spell it: `Prefix /a`. */
export const describePath = ({ type, value }: PathMatch): string => `${pathTypes[type]} ${value}`;
