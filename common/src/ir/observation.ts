import { z } from "zod";

/**
 * How requests to a listener, or to a route of an Ingress, are logged; what is absent is as the flags of the proxy say. See
 * docs/features/access-log.md.
 */
export const observationSchema = z.object({
  /** `false` writes no access-log line. */
  accessLog: z.literal(false).optional(),
  /** The fields of access-log lines, as in `--access-log-fields`. */
  fields: z.array(z.string()).readonly().optional(),
});

export type Observation = Readonly<z.infer<typeof observationSchema>>;
