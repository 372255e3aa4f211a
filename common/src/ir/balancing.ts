import { z } from "zod";
import { requestTemplateSchema, type RequestTemplate } from "../features/request-template.ts";

/**
 * The algorithm by which a route selects among the endpoints of a backend, instead of that of the Service, for this
 * route only. See docs/features/load-balancing.md, "Balancing of a route".
 */
export const balancingSchema = z.discriminatedUnion("algorithm", [
  z.object({ algorithm: z.enum(["round_robin", "least_conn", "ewma"]) }),
  z.object({
    algorithm: z.literal("hash"),
    /** The text that is hashed. An empty text is a valid key: all requests with it are sent to one endpoint. */
    key: requestTemplateSchema,
    /**
     * The number of endpoints that a key selects; each request is sent to any of them. If absent, a key selects one
     * endpoint.
     */
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
