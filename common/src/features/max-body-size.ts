import { z } from "zod";

/** Largest accepted request body in bytes. See docs/features/max-body-size.md. */
export const maxBodySizeSchema = z.object({ maxBytes: z.int().min(0) });

export type MaxBodySize = Readonly<z.infer<typeof maxBodySizeSchema>>;
