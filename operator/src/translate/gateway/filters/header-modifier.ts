import {
  isUntouchable,
  type HeaderField,
  type HeaderModifier,
} from "@svc-gateway/common/features/header-modifier.ts";
import { parseHeaderName, parseHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import type { HTTPRouteRuleFilterRequestHeaderModifier as Written } from "../../../api/generated/httproute.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { quote } from "../../text.ts";

/**
 * Reads a header modifier of a route by the rules of the annotations: fields that frame the message or belong to
 * one connection are omitted with a warning, and only the first of several entries for a name is used. A name in
 * several lists, which the API calls invalid (HTTPHeaderFilter), is set, added to and removed, in this order.
 */
export function readHeaderModifier(
  written: Written | undefined,
  direction: "request" | "response",
  warn: (message: string) => void,
): HeaderModifier | undefined {
  const fields = (entries: Written["set"]): readonly HeaderField[] => {
    const read = new Map<string, HeaderField>();
    for (const entry of entries ?? []) {
      const name = parseHeaderName(entry.name);
      const value = parseHeaderValue(entry.value);
      const wrong = name.ok ? (value.ok ? undefined : value.error) : name.error;
      if (!name.ok || !value.ok) {
        if (wrong !== undefined)
          warn(`${quote(entry.name)}: ${describeProblem(wrong)}; the header is ignored`);
      } else if (isUntouchable(name.value)) warn(`${name.value} cannot be changed and is left out`);
      else if (!read.has(name.value.toLowerCase()))
        read.set(name.value.toLowerCase(), { name: name.value, value: value.value });
    }
    return [...read.values()];
  };
  warnOfRepeats(written, warn);
  const isHost = (name: string): boolean => direction === "request" && name.toLowerCase() === "host";
  const set = fields(written?.set);
  const add = fields(written?.add).filter(({ name }) => !isHost(name));
  const remove = (written?.remove ?? []).filter((name) => {
    if (!isUntouchable(name) && !isHost(name)) return true;
    warn(`${quote(name)} cannot be removed and is kept`);
    return false;
  });
  if (set.length + add.length + remove.length === 0) return undefined;
  return {
    ...(set.length > 0 && { set }),
    ...(add.length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
}

/**
 * Warns of repeated names. The API server accepts a name that is in several lists, or that is repeated in
 * another case.
 */
function warnOfRepeats(written: Written | undefined, warn: (message: string) => void): void {
  const { set = [], add = [], remove = [] } = written ?? {};
  const names = [...set, ...add].map(({ name }) => name).concat(remove);
  for (const [, [name = "", ...others]] of Map.groupBy(names, (one) => one.toLowerCase())) {
    if (others.length === 0) continue;
    warn(
      `${quote(name)} appears several times: only the first entry of each list counts, and set, add and remove run in this order`,
    );
  }
}
