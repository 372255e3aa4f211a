import { z } from "zod";

/**
 * How requests to a listener, or to a route of an Ingress, are logged and traced; what is absent is as the flags of the proxy say. See
 * docs/features/access-log.md and docs/features/tracing.md.
 */
export const observationSchema = z.object({
  /** `false` writes no access-log line. */
  accessLog: z.literal(false).optional(),
  /** The fields of access-log lines, as in `--access-log-fields`. */
  fields: z.array(z.string()).readonly().optional(),
  /** How they are traced: the share of traces that is sampled, or `false` for not at all. */
  tracing: z.union([z.literal(false), z.object({ ratio: z.number().min(0).max(1) }).readonly()]).optional(),
});

export type Observation = Readonly<z.infer<typeof observationSchema>>;
