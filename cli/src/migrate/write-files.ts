/** Writes the migrated texts to files. */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";

/**
 * Writes each file to a folder, under its path relative to the input path. Fails when two files have the same target,
 * when an input file would be overwritten, or when a file cannot be written.
 */
export async function writeToFolder(
  folder: string,
  inputs: readonly string[],
  files: ReadonlyMap<string, string>,
): Promise<Result<undefined, Problem>> {
  const targets = new Map<string, string>();
  for (const file of files.keys()) {
    const target = join(folder, nameBelow(file, inputs));
    const other = targets.get(target);
    if (other !== undefined) return problem(`${other} and ${file} would both be written to ${target}`);
    targets.set(target, file);
  }
  const sources = new Set([...files.keys()].map((file) => resolve(file)));
  const overwritten = [...targets.keys()].find((target) => sources.has(resolve(target)));
  if (overwritten !== undefined) {
    return problem(
      `${overwritten} is a file of the input, which is not overwritten; expected another --output`,
    );
  }
  for (const [target, file] of targets) {
    const written = await writeReport(target, files.get(file) ?? "");
    if (!written.ok) return written;
  }
  return ok(undefined);
}

function nameBelow(file: string, inputs: readonly string[]): string {
  if (file === "<stdin>") return "stdin.yaml";
  // Files of a live cluster have relative names.
  if (inputs.length === 0) return file;
  const below = inputs
    .map((input) => relative(input, file))
    .filter((name) => name !== "" && !name.startsWith(".."));
  return below[0] ?? basename(file);
}

/** Writes a text to a file, and creates its folder if it does not exist. */
export async function writeReport(path: string, text: string): Promise<Result<undefined, Problem>> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return ok(undefined);
  } catch (error) {
    return problem(`${path} cannot be written: ${textOf(error)}`);
  }
}
