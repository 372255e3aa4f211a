import { compression, type Compression } from "@svc-gateway/common/features/compression.ts";
import { isToken } from "@svc-gateway/common/values/header-name.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { resourceFieldIgnored } from "../diagnostics/references.ts";
import { memo } from "../incremental/memo.ts";
import { quote } from "../text.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveReference } from "./reference.ts";

const defaultLevel = 6;
const defaultMinSize = 1024;
const defaultTypes = ["text/html", "text/plain", "text/css", "application/json", "application/javascript"];

/** The data of a Compression, and sentences about values that are ignored. */
type ReadCompression = { readonly value: Compression | undefined; readonly ignored: readonly string[] };

/** The compression of responses; undefined for none. See docs/features/compression.md. */
export function translateCompression(
  read: AnnotationReader,
  context: FeatureContext,
): Compression | undefined {
  const definition = compression.annotations.compression;
  const resource = resolveReference("Compression", definition, read, context);
  if (resource === undefined) return undefined;
  const { value, ignored } = readCompression(resource);
  const named = `Compression ${formatNamespacedName(resource.metadata)}`;
  for (const what of ignored) {
    context.report(definition, (place) => resourceFieldIgnored(place, named, what));
  }
  return value;
}

/** Reads a Compression, once for all Ingresses that use it. Without a coding, nothing is compressed. */
const readCompression = memo(({ spec }: ObjectOf<"Compression">): ReadCompression => {
  const { gzip = false, brotli = false, level = defaultLevel, minSize = defaultMinSize } = spec;
  const ignored: string[] = [];
  const isLevel = Number.isInteger(level) && level >= 1 && level <= 9;
  if (!isLevel) ignored.push(`spec.level ${level} is not an integer from 1 to 9; ${defaultLevel} applies`);
  const isSize = Number.isSafeInteger(minSize) && minSize >= 0;
  if (!isSize) ignored.push(`spec.minSize ${minSize} is not a size in bytes; ${defaultMinSize} applies`);
  const types = new Set<string>();
  for (const type of spec.types ?? defaultTypes) {
    if (isMediaType(type)) types.add(type.trim().toLowerCase());
    else ignored.push(`spec.types: ${quote(type)} is not a media type and is ignored`);
  }
  const value = {
    gzip,
    brotli,
    level: isLevel ? level : defaultLevel,
    minSize: isSize ? minSize : defaultMinSize,
    types: [...types],
  };
  return { value: gzip || brotli ? value : undefined, ignored };
});

/** `type/subtype` (RFC 9110 section 8.3.1), without parameters. */
function isMediaType(text: string): boolean {
  const parts = text.trim().split("/");
  return parts.length === 2 && parts.every(isToken);
}
