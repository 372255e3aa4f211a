/** Writes a bundle as a compressed archive. */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { pack } from "tar-stream";
import type { Entry } from "./entry.ts";

/** The folder of all files in the archive, so that unpacking overwrites nothing else. */
const folder = "svc-gateway-bundle";

/** Writes a new file that only its owner can read; fails if the file exists. The problem is one line for the user. */
export async function writeArchive(
  file: string,
  entries: readonly Entry[],
  nowMs: number,
): Promise<Result<void>> {
  const archive = pack();
  for (const { file: name, text } of entries) {
    archive.entry({ name: `${folder}/${name}`, mode: 0o600, mtime: new Date(nowMs) }, text);
  }
  archive.finalize();
  try {
    await pipeline(archive, createGzip(), createWriteStream(file, { flags: "wx", mode: 0o600 }));
    return ok(undefined);
  } catch (error) {
    const { code } = error as { readonly code?: string };
    return problem(
      code === "EEXIST"
        ? `--bundle: ${file} exists, expected a file that does not; nothing is written`
        : `--bundle: ${file} cannot be written: ${textOf(error)}`,
    );
  }
}
