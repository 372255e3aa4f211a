/** A parsed JSON object of unknown content. */
export type JsonObject = { readonly [field: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
