import type { WithheldTexts } from "./withheld-texts.ts";

/** A copy of a value in which the texts of fields that are asked for are without what is withheld; items of lists have no field. */
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
