/**
 * Bundles the command line into `dist/`: `main.mjs` is the program, `proxy-worker.mjs`, `password-thread.mjs` and `explain-thread.mjs` those of its
 * threads, `otlp-exporter.mjs` what it loads to export traces; `svc-gateway.mjs` starts it if Node.js is new enough, `svc-gateway` with the Node that npm installed for this project. A few files start faster than a thousand and
 * are all that an image needs.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { entryModule, launcherScript } from "./entry-programs.ts";

const root = resolve(import.meta.dirname, "..");
const output = join(root, "dist");

rmSync(output, { recursive: true, force: true });
mkdirSync(output);
/** Keeps a program that is loaded on demand out of the others: they import it from beside them. */
const onDemand: Plugin = {
  name: "on-demand",
  setup(bundle) {
    bundle.onResolve({ filter: /\/otlp-exporter\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "./otlp-exporter.mjs", external: true } : undefined,
    );
  },
};
await build({
  absWorkingDir: root,
  entryPoints: {
    main: "cli/src/program.ts",
    // The programs of threads, each found beside the one that starts it.
    "proxy-worker": "proxy/src/worker/proxy-worker.ts",
    "password-thread": "proxy/src/auth/password-thread.ts",
    "explain-thread": "cli/src/console/explain-thread.ts",
    // Loaded only where traces are exported.
    "otlp-exporter": "proxy/src/tracing/export/otlp-exporter.ts",
  },
  plugins: [onDemand],
  outdir: output,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // Beside the programs, for people; a process that reads them is blocked meanwhile (docs/operations.md, "Stack
  // traces").
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  // A process keeps the text of its program: without comments, which are not even ASCII, it is a quarter of the size.
  minifyWhitespace: true,
  // An unexpected error shows its line.
  lineLimit: 300,
  logLevel: "warning",
  // CommonJS dependencies call require.
  banner: {
    js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
  },
  // Optional parts of bunyan that this program does not use.
  external: ["dtrace-provider", "mv", "safe-json-stringify", "source-map-support"],
});

writeFileSync(join(output, "svc-gateway.mjs"), entryModule("main.mjs"));
// The second name is that of a kubectl plugin: `kubectl svc_gateway`.
for (const name of ["svc-gateway", "kubectl-svc_gateway"]) {
  const launcher = join(output, name);
  writeFileSync(launcher, launcherScript("svc-gateway.mjs"));
  chmodSync(launcher, 0o755);
}
