/**
 * Determines the fields that a proxy drops from resources of controllers of this release. See
 * docs/adr/0040-known-fields.md.
 */
import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";

/** The last result, shared by proxies of one release, which connect at about the same time in an upgrade. */
let last: { readonly stated: string; readonly unknown: readonly string[] } | undefined;

/** The fields of resources that are not among `knownFields`, sorted; all of them for a proxy that reports none. */
export function fieldsBeyond(knownFields: readonly string[]): readonly string[] {
  const stated = knownFields.join("\n");
  if (last?.stated === stated) return last.unknown;
  const known = new Set(knownFields);
  const unknown = contractFields().filter((field) => !known.has(field));
  last = { stated, unknown };
  return unknown;
}
