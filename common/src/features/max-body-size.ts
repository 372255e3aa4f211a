import { z } from "zod";
import { byteSizeForm, parseByteSize } from "../values/byte-size.ts";
import { ok, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";

/** Largest accepted request body in bytes. See docs/features/max-body-size.md. */
export const maxBodySizeSchema = z.object({
  maxBytes: z.int().min(0),
  /** Whether the declared length is checked before redirects and address rules. See docs/filter-order.md. */
  early: z.literal(true).optional(),
});

export type MaxBodySize = Readonly<z.infer<typeof maxBodySizeSchema>>;

/** Reads a size. `0` is a limit like any other: only requests without a body pass. */
export function parseMaxBodySize(text: string): Result<MaxBodySize> {
  const size = parseByteSize(text);
  return size.ok ? ok({ maxBytes: size.value }) : size;
}

export const maxBodySize = defineFeature({
  slug: "max-body-size",
  schema: maxBodySizeSchema,
  annotations: {
    maxBodySize: defineAnnotation({
      name: "max-body-size",
      type: "size",
      form: byteSizeForm,
      builtIn: "no limit",
      gatewayApi: "`ExtensionRef` to RequestSizeLimit",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "request bodies are not limited",
      doc: "Maximum size of the request body in bytes, with an optional k, m or g (powers of 1024); 413 above it.",
      parse: parseMaxBodySize,
    }),
  },
  fromAnnotations: ({ maxBodySize: cap }) => cap,
});
