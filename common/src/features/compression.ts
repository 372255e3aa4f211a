import { z } from "zod";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** The compression of responses; at least one of the codings is enabled. See docs/features/compression.md. */
export const compressionSchema = z.object({
  gzip: z.boolean(),
  brotli: z.boolean(),
  /** The compression level, 1 (fast) to 9 (small), for both codings. */
  level: z.int().min(1).max(9),
  /** The minimum declared length in bytes; a response of undeclared length is compressed at any size. */
  minSize: z.int().min(0),
  /** The media types that are compressed, in lower case. */
  types: z.array(z.string()),
});

export type Compression = Readonly<z.infer<typeof compressionSchema>>;

export const compression = defineTranslatedFeature({
  slug: "compression",
  schema: compressionSchema,
  annotations: {
    compression: defineReference({
      name: "compression",
      resource: "Compression",
      builtIn: "no compression",
      gatewayApi: "`ExtensionRef` to Compression",
      fallback: "responses are not compressed",
      doc: "The Compression that selects the responses to compress for clients that accept it.",
    }),
  },
});
