// Writes the generated reference pages. With --check it writes nothing and fails when a page differs from the
// generated text. Cells of tables are not padded, so that a longer one changes only its own line; prettier, which
// would pad them, ignores these pages (.prettierignore).
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { accessLogPage } from "./generate-docs-access-log.ts";
import { annotationsPage } from "./generate-docs-annotations.ts";
import { benchmarkFiguresPage } from "./generate-docs-benchmarks.ts";
import { filterOrderPage } from "./generate-docs-filters.ts";
import { nginxAnnotationsPage } from "./generate-docs-ingress-nginx.ts";
import { flagsPage } from "./generate-docs-flags.ts";
import { metricsPage } from "./generate-docs-metrics.ts";
import { pictures } from "./pictures/pictures.ts";
import { refusalsPage } from "./generate-docs-refusals.ts";

/** The pages by path. Each function receives the present page, because most of its text is not generated. */
const pages: Readonly<Record<string, (present: string) => string>> = {
  "docs/filter-order.md": filterOrderPage,
  "docs/reference/access-log.md": accessLogPage,
  "docs/reference/annotations.md": annotationsPage,
  "docs/reference/benchmark-figures.md": benchmarkFiguresPage,
  "docs/reference/flags.md": flagsPage,
  "docs/reference/ingress-nginx-annotations.md": nginxAnnotationsPage,
  "docs/reference/metrics.md": metricsPage,
  "docs/reference/refusals.md": refusalsPage,
  ...pictures,
};

const isCheck = process.argv.includes("--check");
for (const [name, page] of Object.entries(pages)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const present = await readFile(path, "utf8").catch(() => "");
  const text = page(present);
  if (present === text) continue;
  if (isCheck) {
    console.error(`${name} is out of date: run scripts/node scripts/generate-docs.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(path, text);
    console.log(`wrote ${name}`);
  }
}
