/**
 * Checkouts of other commits of this project for comparisons, such as the baseline of a benchmark or the previous
 * release.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/**
 * Returns the folder of a commit with its bundle, which is built there once. It is built with the present
 * dependencies, so that a comparison covers only the code of this project, or with its own if it needs a package that
 * is no longer among them.
 */
export function checkoutOf(ref: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", root, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    }).trim();
  const commit = git("rev-parse", "--short=12", `${ref}^{commit}`);
  const folder = join(root, ".cache/checkouts", commit);
  if (!existsSync(folder)) git("worktree", "add", "--detach", folder, commit);
  if (!existsSync(join(folder, "node_modules"))) {
    if (dependenciesOf(folder).every((name) => existsSync(join(root, "node_modules", name))))
      linkDependencies(folder);
    else
      execFileSync("npm", ["ci", "--loglevel=error"], {
        cwd: folder,
        stdio: ["ignore", "ignore", "inherit"],
      });
  }
  if (!existsSync(join(folder, "dist/svc-gateway.mjs"))) {
    execFileSync(process.execPath, ["scripts/build.ts"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return folder;
}

/** The packages that the product of a checkout imports, without those of its own workspaces. */
function dependenciesOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name, "package.json"))
    .filter((file) => existsSync(file))
    .flatMap((file) => {
      const { dependencies = {} } = JSON.parse(readFileSync(file, "utf8")) as {
        dependencies?: Record<string, string>;
      };
      return Object.keys(dependencies);
    })
    .filter((name) => !name.startsWith("@svc-gateway/"));
}

/** Links the dependencies of this checkout, but the workspace packages of the other one. */
function linkDependencies(folder: string): void {
  const own = "@svc-gateway";
  const target = join(folder, "node_modules");
  mkdirSync(join(target, own), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== own) symlinkSync(join(root, "node_modules", name), join(target, name));
  }
  for (const name of readdirSync(join(root, "node_modules", own))) {
    symlinkSync(join(folder, name), join(target, own, name));
  }
}
