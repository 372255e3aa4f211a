import { z } from "zod";
import { requestTemplateSchema, type RequestTemplate } from "../features/request-template.ts";

/**
 * How a route chooses among the endpoints of a backend; instead of the algorithm of the Service, for this route only. See
 * docs/features/load-balancing.md, "Balancing of a route".
 */
export const balancingSchema = z.discriminatedUnion("algorithm", [
  z.object({ algorithm: z.enum(["round_robin", "least_conn", "ewma"]) }),
  z.object({
    algorithm: z.literal("hash"),
    /** The text that is hashed. An empty one is a key like any other: all its requests go to one endpoint. */
    key: requestTemplateSchema,
    /** The key leads to so many endpoints, of which each request gets any one; absent: to one. */
    subset: z.int().min(1).optional(),
  }),
]);

export type Balancing =
  | { readonly algorithm: "round_robin" | "least_conn" | "ewma" }
  | {
      readonly algorithm: "hash";
      readonly key: RequestTemplate;
      readonly subset?: number | undefined;
    };
