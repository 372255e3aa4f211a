/**
 * Bundles the command line into `dist/`: `svc-gateway.mjs` is the program, `proxy-worker.mjs` and `bcrypt-thread.mjs` those of its threads,
 * `svc-gateway` starts it with the Node that npm installed for this project. A few files start faster than a thousand and
 * are all that an image needs.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const output = join(root, "dist");

rmSync(output, { recursive: true, force: true });
mkdirSync(output);
await build({
  absWorkingDir: root,
  entryPoints: {
    "svc-gateway": "cli/src/main.ts",
    // The programs of threads, each found beside the one that starts it.
    "proxy-worker": "proxy/src/worker/proxy-worker.ts",
    "bcrypt-thread": "proxy/src/auth/bcrypt-thread.ts",
  },
  outdir: output,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // Beside the programs, for people; a process that reads them stands still meanwhile (docs/operations.md, "Stack traces").
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  // A process keeps the text of its program: without comments, which are not even ASCII, it is a quarter of the size.
  minifyWhitespace: true,
  logLevel: "warning",
  // CommonJS dependencies call require.
  banner: {
    js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
  },
  // Optional parts of bunyan that this program does not use.
  external: ["dtrace-provider", "mv", "safe-json-stringify", "source-map-support"],
});

const launcher = join(output, "svc-gateway");
const lines = [
  "#!/bin/sh",
  'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
  'exec "$here/../scripts/node" --disable-warning=DEP0040 "$here/svc-gateway.mjs" "$@"',
  "",
];
writeFileSync(launcher, lines.join("\n"));
chmodSync(launcher, 0o755);
