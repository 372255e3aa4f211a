/** What a proxy drops of what controllers of this release send. See docs/adr/0040-known-fields.md. */
import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";

/** The last answer: proxies of one release, which connect together in an upgrade, share it. */
let last: { readonly stated: string; readonly unknown: readonly string[] } | undefined;

/** The fields of resources that are not among these, sorted; all of them for a proxy that states none. */
export function fieldsBeyond(knownFields: readonly string[]): readonly string[] {
  const stated = knownFields.join("\n");
  if (last?.stated === stated) return last.unknown;
  const known = new Set(knownFields);
  const unknown = contractFields().filter((field) => !known.has(field));
  last = { stated, unknown };
  return unknown;
}
