/** Archives with bytes that depend only on the names and contents of their files. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const maxArchiveBytes = 1024 * 1024 * 1024;

/**
 * A tar of the content of a folder, with fixed owners. All files have the time `epochSeconds`, and `prefix` is
 * prepended to their names.
 */
export function tarOf(
  folder: string,
  { epochSeconds, prefix = "." }: { readonly epochSeconds: number; readonly prefix?: string },
): Buffer {
  const fixed = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"];
  const format = ["--format=posix", "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"];
  const move = prefix === "." ? [] : [`--transform=flags=r;s,^\\.,${prefix},`];
  const args = [...fixed, ...format, `--mtime=@${epochSeconds}`, ...move, "-C", folder, "-cf", "-", "."];
  return execFileSync("tar", args, { maxBuffer: maxArchiveBytes });
}

/** Writes a compressed tar; the gzip header has neither a name nor a time. */
export function writeTarGz(
  file: string,
  folder: string,
  options: { readonly epochSeconds: number; readonly prefix?: string },
): void {
  writeFileSync(file, gzipSync(tarOf(folder, options), { level: 9 }));
}
