import { z } from "zod";

/**
 * A change to a path; the query is kept. `full` replaces the whole path. `prefix` replaces `prefix`, which ends at the
 * end of a segment, by `value`; neither ends in a slash, and an empty result becomes `/`. Equivalent to Gateway API's
 * HTTPPathModifier.
 */
export const pathModifierSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("full"), value: z.string() }),
  z.object({ type: z.literal("prefix"), prefix: z.string(), value: z.string() }),
]);

export type PathModifier = Readonly<z.infer<typeof pathModifierSchema>>;

/**
 * Whether a text has only characters that are allowed in a path (RFC 3986 section 3.3): no query, no fragment, and no
 * other unescaped character.
 */
export const isPathText = (text: string): boolean =>
  /^(?:[\w\-.~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/.test(text);
