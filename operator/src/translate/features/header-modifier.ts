import type { HeaderField, HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";

/** What the three annotations of a direction say; `invalid`: the annotation is there and does not parse. */
type HeaderAnnotations = {
  readonly set: readonly HeaderField[] | "invalid" | undefined;
  readonly add: readonly HeaderField[] | "invalid" | undefined;
  readonly remove: readonly string[] | undefined;
};

/** The changes of one direction; none at all when one of the lists of fields does not parse. */
export function toHeaderModifier({
  set = [],
  add = [],
  remove = [],
}: HeaderAnnotations): HeaderModifier | undefined {
  if (set === "invalid" || add === "invalid") return undefined;
  if (set.length + add.length + remove.length === 0) return undefined;
  return {
    ...(set.length > 0 && { set }),
    ...(add.length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
}
