import { z } from "zod";

/**
 * The logging and tracing of requests to a listener, or to a route of an Ingress. For absent fields, the flags of the
 * proxy decide. See docs/features/access-log.md and docs/features/tracing.md.
 */
export const observationSchema = z.object({
  /** With `false`, no access-log line is written. */
  accessLog: z.literal(false).optional(),
  /** The fields of access-log lines, as in `--access-log-fields`. */
  fields: z.array(z.string()).readonly().optional(),
  /** The share of traces that is sampled, or `false` for no tracing. */
  tracing: z.union([z.literal(false), z.object({ ratio: z.number().min(0).max(1) }).readonly()]).optional(),
});

export type Observation = Readonly<z.infer<typeof observationSchema>>;
