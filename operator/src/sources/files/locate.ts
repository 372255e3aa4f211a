import { isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import type { Converted } from "./convert.ts";

/**
 * Returns the offset of the field with this path. If the text does not contain the field, it is the offset of the
 * closest level around it: a missing field is reported at the map that lacks it. The path is that of a SchemaProblem,
 * such as `spec.rules[0].host` or `metadata.annotations["a/b"]`, or that of a diagnostic, which has no quotes.
 */
export function locateField({ nodes }: Converted, value: unknown, path: string, start: number): number {
  let current = value;
  let offset = start;
  for (const step of parsePath(path)) {
    if (typeof current !== "object" || current === null) return offset;
    const node = nodes.get(current);
    const found = node === undefined ? undefined : findStep(node, step);
    if (found === undefined) return offset;
    offset = found.offset;
    current = (current as Record<string, unknown>)[found.name];
  }
  return offset;
}

/** One step of a path; with `cut`, only the beginning of a long key is known. */
type Step = { readonly name: string; readonly cut: boolean };

function findStep(
  node: ParsedNode,
  step: Step,
): { readonly name: string; readonly offset: number } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step.name)];
    return item === undefined || !("range" in item) ? undefined : { name: step.name, offset: startOf(item) };
  }
  if (!isMap(node)) return undefined;
  for (const { key } of node.items) {
    if (!isScalar(key)) continue;
    const name = typeof key.value === "string" ? key.value : key.source;
    if (step.cut ? name.startsWith(step.name) : name === step.name) return { name, offset: key.range[0] };
  }
  return undefined;
}

const startOf = (node: ParsedNode): number => node.range[0];

const stepPattern = /\.?([^.[\]]+)|\[([^\]"]+)\]|\[("(?:[^"\\]|\\.)*")(\.\.\. \(\d+ characters\))?\]/gy;

function parsePath(path: string): readonly Step[] {
  const steps: Step[] = [];
  for (const [, field, plain, quoted, cut] of path.matchAll(stepPattern)) {
    if (quoted === undefined) steps.push({ name: field ?? plain ?? "", cut: false });
    else steps.push({ name: JSON.parse(quoted) as string, cut: cut !== undefined });
  }
  return steps;
}
