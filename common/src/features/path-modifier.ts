import { z } from "zod";

/** A change to a path. `full` replaces all of it; the query stays. Equivalent to Gateway API's HTTPPathModifier. */
export const pathModifierSchema = z.object({ type: z.literal("full"), value: z.string() });

export type PathModifier = Readonly<z.infer<typeof pathModifierSchema>>;

/** Whether a text has only what a path may hold (RFC 3986 section 3.3): no query, no fragment, no unescaped other. */
export const isPathText = (text: string): boolean =>
  /^(?:[\w\-.~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/.test(text);
