/** Builds the site of the work tree and, below it, of each release from its tag (docs/releasing.md, "The site"). */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { problem, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { buildVersion } from "./build-version.ts";
import { versionsOf } from "./versions.ts";

export type Site = {
  /** The work tree, which is a git repository. */
  readonly root: string;
  /** The folder for files that are kept between builds. */
  readonly work: string;
  readonly output: string;
  /** The path under which the site is served, with a slash at both ends. */
  readonly base: string;
  /** Whether releases are built as well. */
  readonly hasReleases: boolean;
};

/** Builds all versions. Fails with the output of the generator for the first version that cannot be built. */
export function buildSite({ root, work, output, base, hasReleases }: Site): Result<undefined> {
  const versions = versionsOf(hasReleases ? git(root, "tag", "--list").toString().split("\n") : []);
  for (const version of versions) {
    const folder = join(work, version.tag ?? "current");
    const content =
      version.tag === undefined ? root : treeOf(root, { tag: version.tag, folder: join(folder, "tree") });
    const error = buildVersion({ version, versions, content, folder, output, base });
    if (error !== undefined) return problem(`${error}\nThe site of ${version.name} cannot be built`);
  }
  return ok(undefined);
}

/** Extracts the work tree of a release and returns its folder. */
function treeOf(root: string, { tag, folder }: { readonly tag: string; readonly folder: string }): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["--extract", "--directory", folder], {
    input: git(root, "archive", "--format=tar", tag),
  });
  return folder;
}

const git = (root: string, ...args: readonly string[]): Buffer =>
  execFileSync("git", args, { cwd: root, maxBuffer: 512 * 1024 * 1024 });
