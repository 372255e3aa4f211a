import { z } from "zod";
import { maxBodySizeSchema } from "./max-body-size.ts";

/**
 * Every feature that a route (or a backend of it) can carry, by slug. A feature is one word everywhere: its file
 * here, its translator, its filter, its page under docs/features/.
 */
export const routeFeaturesSchema = z.object({
  "max-body-size": maxBodySizeSchema.optional(),
});

export type RouteFeatures = Readonly<z.infer<typeof routeFeaturesSchema>>;
export type FeatureSlug = keyof RouteFeatures;
