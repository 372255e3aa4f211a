/** Lists of header names as resources hold them. */
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import { quote } from "../text.ts";

/** Names in lower case, without those that may not be passed on; `field` is where they are. */
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
