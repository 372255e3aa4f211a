import type { PathMatch } from "@svc-gateway/common/ir/match.ts";

const pathTypes = { exact: "Exact", prefix: "Prefix", regex: "Regex" } as const;

/** `Prefix /a`, as manifests spell it. */
export const describePath = ({ type, value }: PathMatch): string => `${pathTypes[type]} ${value}`;
