/** The Markdown files of the work tree that are pages of the site, and their places. */
import { globSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The places of files outside docs/. */
const places: Readonly<Record<string, string>> = {
  "README.md": "overview.md",
  "config/chart/README.md": "reference/chart.md",
  "config/examples/README.md": "examples/index.md",
  "e2e/README.md": "project/e2e.md",
  "e2e/cluster/README.md": "project/test-cluster.md",
};

const patterns = ["*.md", "docs/**/*.md", "config/examples/*/README.md", ...Object.keys(places)];

/** The paths of the pages on the site, with the ending `.md`, by file relative to the root of the work tree. */
export function pagesOf(root: string): ReadonlyMap<string, string> {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  return new Map([...new Set(files)].sort().map((file) => [file, sitePathOf(file)]));
}

function sitePathOf(file: string): string {
  const place = places[file];
  if (place !== undefined) return place;
  const folder = dirname(file);
  if (folder === ".") return `project/${basename(file).toLowerCase().replaceAll("_", "-")}`;
  if (folder.startsWith("config/examples/")) return `examples/${basename(folder)}.md`;
  const path = file.replace(/^docs\//, "");
  return basename(path) === "README.md" ? join(dirname(path), "index.md") : path;
}
