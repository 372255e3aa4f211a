/** The bundle of the command line: the programs of its process and threads, and the parts that they share. */
import { resolve } from "node:path";
import { build, type BuildOptions, type BuildResult, type Plugin } from "esbuild";
import { builtinHttp } from "./builtin-http.ts";
import { knownFields } from "./known-fields.ts";
import { unusedParts } from "./unused-parts.ts";

const root = resolve(import.meta.dirname, "../..");

/** What esbuild made: the files with their content, and which sources each is made of. Nothing is written yet. */
export type Bundle = BuildResult<{ metafile: true; write: false }>;

/** The form of what is bundled; tests bundle parts of the program likewise. */
export const modules = {
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
  // CommonJS dependencies call require.
  banner: {
    js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
  },
} satisfies BuildOptions;

/**
 * Bundles the sources. Code that several programs share, or that a command loads only when it is chosen, becomes a file
 * of its own, `part-<hash>.mjs`, so that a process reads no more than it runs. All files belong into one folder. The program
 * reports `version`; undefined: that of cli/package.json.
 */
export function bundleProgram(version?: string): Promise<Bundle> {
  return build({
    absWorkingDir: root,
    entryPoints: {
      main: "cli/src/program.ts",
      // The programs of threads, each found beside the one that starts it.
      "proxy-worker": "proxy/src/worker/proxy-worker.ts",
      "password-thread": "proxy/src/auth/password-thread.ts",
      "explain-thread": "cli/src/console/explain-thread.ts",
    },
    plugins: [
      unusedParts,
      builtinHttp,
      knownFields,
      ...(version === undefined ? [] : [releaseVersion(version)]),
    ],
    // Paths in source maps are relative to it, regardless of where the files are written to.
    outdir: "dist",
    write: false,
    metafile: true,
    outExtension: { ".js": ".mjs" },
    chunkNames: "part-[hash]",
    ...modules,
    splitting: true,
    target: "node24",
    // Beside the programs, for people; a process that reads them is blocked meanwhile (docs/operations.md, "Stack
    // traces").
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    // A process keeps the text of its program: without comments, which are not even ASCII, it is a quarter of the size.
    minifyWhitespace: true,
    // An unexpected error shows its line.
    lineLimit: 300,
    // Optional parts of bunyan that this program does not use.
    external: ["dtrace-provider", "mv", "safe-json-stringify", "source-map-support"],
  });
}

/** Makes the program report a release instead of the version of the work tree (cli/src/version.ts). */
const releaseVersion = (version: string): Plugin => ({
  name: "release-version",
  setup(bundle) {
    bundle.onLoad({ filter: /[/\\]cli[/\\]package\.json$/ }, () => ({
      contents: JSON.stringify({ version }),
      loader: "json",
    }));
  },
});
