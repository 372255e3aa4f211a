import { formProblem, type Form } from "./form.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

export const byteSizeForm: Form = {
  pattern: "(?i)^[0-9]+[kmg]?$",
  noun: "a size",
  expected: 'a number of bytes with an optional k, m or g (powers of 1024), such as "512k" or "8m"',
};

const bytesPerSuffix: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/**
 * Reads a size in bytes: digits and an optional `k`, `m` or `g` in either case, in powers of 1024. A size that a number
 * cannot hold exactly (above 2^53 - 1 bytes) is rejected. See docs/reference/values.md#size.
 */
export function parseByteSize(text: string): Result<number, Problem> {
  const trimmed = text.trim();
  const match = /^(\d+)([kmg]?)$/i.exec(trimmed);
  if (match === null) return formProblem(byteSizeForm, trimmed);
  const bytes = Number(match[1]) * (bytesPerSuffix[(match[2] ?? "").toLowerCase()] ?? 1);
  return Number.isSafeInteger(bytes)
    ? ok(bytes)
    : problem(`"${trimmed.slice(0, 40)}" is more than 2^53 - 1 bytes`, byteSizeForm.expected);
}

/** Writes a number of bytes with the largest suffix that keeps it exact: 65536 is `64k`, 1000 is `1000`. */
export function formatByteSize(bytes: number): string {
  for (const suffix of ["g", "m", "k"]) {
    const size = bytesPerSuffix[suffix] ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${suffix}`;
  }
  return String(bytes);
}
