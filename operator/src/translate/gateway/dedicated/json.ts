/** A parsed JSON object of which nothing is known yet. */
export type JsonObject = { readonly [field: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
