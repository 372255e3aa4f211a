/** Determines the commit of the previous release (docs/upgrading.md, "Version skew"). */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/provider.ts";

/**
 * Returns PREVIOUS; else the newest tag of a release before this commit; else the commit that added the newest
 * version to the changelog. Undefined without any of them, and in a shallow clone unless PREVIOUS is set.
 */
export function previousRelease(): string | undefined {
  const { PREVIOUS: given = "" } = process.env;
  if (given !== "") return given;
  if (git("rev-parse", "--is-shallow-repository") !== "false") return undefined;
  const tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^");
  if (tag !== undefined) return tag;
  const heading = /^## \[\d[^\]]*\]/m.exec(readFileSync(join(root, "CHANGELOG.md"), "utf8"))?.[0];
  if (heading === undefined) return undefined;
  const commits = git("log", "--reverse", "--format=%H", `-S${heading}`, "HEAD^", "--", "CHANGELOG.md");
  return commits?.split("\n")[0];
}

/** The output of git; undefined when the command fails or prints nothing. */
function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 && stdout.trim() !== "" ? stdout.trim() : undefined;
}
