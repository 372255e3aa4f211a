import type { WithheldTexts } from "./withheld-texts.ts";

/** Copies a value, and removes withheld texts from the fields that `isAsked` selects. Items of lists have no name. */
export function cleanTexts(
  value: unknown,
  withheld: WithheldTexts,
  isAsked: (field: string) => boolean,
  field = "",
): unknown {
  if (typeof value === "string") return isAsked(field) ? withheld.clean(value) : value;
  if (Array.isArray(value)) return value.map((item) => cleanTexts(item, withheld, isAsked));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, cleanTexts(one, withheld, isAsked, key)]),
  );
}
