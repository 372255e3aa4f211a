/** Lists of header names in resources. */
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import { quote } from "../text.ts";

/** The names in lower case, without those that must not be passed on. `field` is the field with the list. */
export const usableNames = (
  names: readonly string[],
  field: string,
  ignored: string[],
  isUsable: (name: string) => boolean = mayBeIdentityHeader,
): string[] =>
  names
    .filter(
      (name) =>
        isUsable(name) ||
        void ignored.push(`${field}: the header ${quote(name)} cannot be passed on and is ignored`),
    )
    .map((name) => name.toLowerCase());
