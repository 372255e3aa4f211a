/**
 * Bundles what a package loads by a `require` of its own. The ES modules of such a package make one by `createRequire`, whose calls
 * a bundle leaves to the run time: there is no `node_modules` then, or one with another copy, whose classes are not those of the
 * bundle. The plain `require` is resolved like an import.
 */
import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/** Modules that were compiled by rolldown, with such calls; bundle.test.ts finds others. */
const modules = /[/\\]node_modules[/\\]@opentelemetry[/\\]otlp-grpc-exporter-base[/\\]dist[/\\][\w-]+\.mjs$/;

export const ownRequires: Plugin = {
  name: "own-requires",
  setup(bundle) {
    bundle.onLoad({ filter: modules }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll("__require(", "require("),
    }));
  },
};
