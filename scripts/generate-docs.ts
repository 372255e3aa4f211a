// Writes the reference pages that follow from declarations. With --check it writes nothing and fails when a page is
// not what it would write.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { annotationsPage } from "./generate-docs-annotations.ts";
import { flagsPage } from "./generate-docs-flags.ts";
import { metricsPage } from "./generate-docs-metrics.ts";

const pages: Readonly<Record<string, () => string>> = {
  "docs/reference/annotations.md": annotationsPage,
  "docs/reference/flags.md": flagsPage,
  "docs/reference/metrics.md": metricsPage,
};

const isCheck = process.argv.includes("--check");
for (const [name, page] of Object.entries(pages)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const text = await format(page(), { ...(await resolveConfig(path)), filepath: path });
  const present = await readFile(path, "utf8").catch(() => "");
  if (present === text) continue;
  if (isCheck) {
    console.error(`${name} is out of date: run scripts/node scripts/generate-docs.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(path, text);
    console.log(`wrote ${name}`);
  }
}
