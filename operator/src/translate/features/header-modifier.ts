import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import type { HeaderField, HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

type Fields = AnnotationDefinition<readonly HeaderField[] | "invalid">;

/** The three annotations of a direction. */
type HeaderAnnotations = {
  readonly set: Fields;
  readonly add: Fields;
  readonly remove: AnnotationDefinition<readonly string[]>;
};

/**
 * The changes of one direction. When a list of fields of the Ingress does not parse, none of its three annotations applies,
 * and the defaults of the class do: fields that the class removes are not let through by a mistake.
 */
export function readHeaderModifier(
  read: AnnotationReader,
  { set, add, remove }: HeaderAnnotations,
): HeaderModifier | undefined {
  // Each is read in any case, as what is wrong with it is told then.
  const own = [read(set), read(add), read(remove)] as const;
  const isInvalid = own.includes("invalid");
  const [toSet = [], toAdd = [], toRemove = []] = isInvalid
    ? ([read.inherited(set), read.inherited(add), read.inherited(remove)] as const)
    : own;
  // Defaults of a class that do not parse are absent.
  if (toSet === "invalid" || toAdd === "invalid") return undefined;
  if (toSet.length + toAdd.length + toRemove.length === 0) return undefined;
  return {
    ...(toSet.length > 0 && { set: toSet }),
    ...(toAdd.length > 0 && { add: toAdd }),
    ...(toRemove.length > 0 && { remove: toRemove }),
  };
}
