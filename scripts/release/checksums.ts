/** Checksums of the files of a release, in the format of `sha256sum --check`. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const checksumsFile = "SHA256SUMS";

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Name and digest of each file in a folder, sorted by name. */
export const digestsOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, sha256Of(readFileSync(join(folder, name)))]),
  );

/** Writes the checksums of all files that are currently in the folder. */
export function writeChecksums(folder: string): void {
  const lines = [...digestsOf(folder)].map(([name, digest]) => `${digest}  ${name}\n`);
  writeFileSync(join(folder, checksumsFile), lines.join(""));
}
