/**
 * `make docs`: builds the documentation site in dist/site and checks its links. VERSIONS=all builds each release from its tag
 * as well, below the site of the work tree; BASE=name is the folder under which it is served (docs/releasing.md, "The site").
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildVersion } from "./build-version.ts";
import { faultsOfSite } from "./check.ts";
import { versionsOf } from "./versions.ts";

const root = resolve(import.meta.dirname, "../..");
const work = join(root, ".cache/site");
const output = join(root, "dist/site");
const base = `/${process.env["BASE"] ?? ""}/`.replaceAll(/\/+/g, "/");
const startedMs = performance.now();

if (!existsSync(join(import.meta.dirname, "node_modules/vitepress"))) {
  console.error("The generator of the site is not installed: run make docs, or npm ci in scripts/site");
  process.exit(1);
}
const versions = versionsOf(process.env["VERSIONS"] === "all" ? tags() : []);
for (const version of versions) {
  const folder = join(work, version.tag ?? "current");
  const content = version.tag === undefined ? root : treeOf(version.tag, join(folder, "tree"));
  const error = buildVersion({ version, versions, content, folder, output, base });
  if (error === undefined) continue;
  console.error(`${error}\nThe site of ${version.name} cannot be built`);
  process.exit(1);
}
const { pages, faults } = faultsOfSite(output, base);
for (const fault of faults) console.error(fault);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
console.log(`dist/site: ${pages} pages, ${faults.length} dead links, ${seconds} s`);
process.exitCode = faults.length === 0 ? 0 : 1;

function tags(): readonly string[] {
  const { status, stdout, stderr } = spawnSync("git", ["tag", "--list"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git tag: ${stderr}`);
  return stdout.split("\n");
}

/** The work tree of a release. */
function treeOf(tag: string, folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const maxBuffer = 512 * 1024 * 1024;
  const archive = execFileSync("git", ["archive", "--format=tar", tag], { cwd: root, maxBuffer });
  execFileSync("tar", ["--extract", "--directory", folder], { input: archive });
  return folder;
}
