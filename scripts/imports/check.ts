/**
 * Checks the direction of imports against .dependency-cruiser.cjs. dependency-cruiser reads TypeScript with the API
 * of TypeScript, which version 7, the compiler of this project, no longer has; it gets the version that is installed
 * next to this file. Exits with 1 when an import is forbidden, or when a TypeScript file was not read: with another
 * TypeScript, dependency-cruiser silently skips all of them.
 */
import { globSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ICruiseResult } from "dependency-cruiser";

const root = fileURLToPath(new URL("../../", import.meta.url));
process.chdir(root);

const require = createRequire(import.meta.url);
const readable = new Map(
  ["typescript", "typescript/package.json"].map((name) => [name, pathToFileURL(require.resolve(name)).href]),
);
registerHooks({
  resolve(specifier, context, next) {
    const url = readable.get(specifier);
    return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
  },
});

const { cruise } = await import("dependency-cruiser");
const { default: extractOptions } = await import("dependency-cruiser/config-utl/extract-depcruise-options");
const { default: extractTsConfig } = await import("dependency-cruiser/config-utl/extract-ts-config");

const folders = ["proto", "common", "operator", "proxy", "cli"].flatMap((name) => [
  `${name}/src`,
  `${name}/test`,
]);
const options = await extractOptions("./.dependency-cruiser.cjs");
const tsConfig = extractTsConfig("./tsconfig.json");
const { output } = await cruise([...folders, "scripts"], options, undefined, { tsConfig });
const { summary, modules } = output as ICruiseResult;

for (const { rule, from, to } of summary.violations) {
  console.error(`${relative(root, from)} must not import ${relative(root, to)} (${rule.name})`);
}
const { error: errors, totalDependenciesCruised: imports = 0 } = summary;
const read = new Set(modules.map(({ source }) => source));
const unread = globSync(["*/{src,test}/**/*.ts", "scripts/**/*.ts"], {
  exclude: (name) => name === "node_modules",
}).filter((file) => !read.has(file));
if (unread.length > 0) {
  const rest = unread.length > 3 ? ` and ${unread.length - 3} more` : "";
  console.error(`not read: ${unread.slice(0, 3).join(", ")}${rest}`);
}
// A file that is listed without its imports was not parsed.
const isBlind = imports < modules.length;
if (isBlind) console.error("the imports could not be read");
console.log(`${modules.length} modules, ${imports} imports, ${errors} forbidden`);
process.exitCode = errors > 0 || unread.length > 0 || isBlind ? 1 : 0;
