/**
 * `make docs`: builds the documentation site in dist/site and checks its links. VERSIONS=all also builds each release
 * from its tag, below the site of the work tree; BASE=name is the folder under which the site is served
 * (docs/releasing.md, "The site").
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSite } from "./build-site.ts";
import { faultsOfSite } from "./check.ts";

const root = resolve(import.meta.dirname, "../..");
const work = join(root, ".cache/site");
const output = join(root, "dist/site");
const base = `/${process.env["BASE"] ?? ""}/`.replaceAll(/\/+/g, "/");
const startedMs = performance.now();

if (!existsSync(join(import.meta.dirname, "node_modules/vitepress"))) {
  console.error("The generator of the site is not installed: run make docs, or npm ci in scripts/site");
  process.exit(1);
}
const built = buildSite({ root, work, output, base, hasReleases: process.env["VERSIONS"] === "all" });
if (!built.ok) {
  console.error(built.error.message);
  process.exit(1);
}
const { pages, faults } = faultsOfSite(output, base);
for (const fault of faults) console.error(fault);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
console.log(`dist/site: ${pages} pages, ${faults.length} dead links, ${seconds} s`);
process.exitCode = faults.length === 0 ? 0 : 1;
