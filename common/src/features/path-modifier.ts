import { z } from "zod";

/** A change to a path. `full` replaces all of it; the query stays. Equivalent to Gateway API's HTTPPathModifier. */
export const pathModifierSchema = z.object({ type: z.literal("full"), value: z.string() });

export type PathModifier = Readonly<z.infer<typeof pathModifierSchema>>;
