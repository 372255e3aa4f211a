/** The bundle of the command line: the programs of its process and threads, and the parts that they share. */
import { resolve } from "node:path";
import { build, type BuildOptions, type BuildResult, type Plugin } from "esbuild";
import { builtinHttp } from "./builtin-http.ts";
import { knownFields } from "./known-fields.ts";
import { unusedParts } from "./unused-parts.ts";

const root = resolve(import.meta.dirname, "../..");

/** The result of esbuild: the files with their content, and the sources of each. Nothing has been written yet. */
export type Bundle = BuildResult<{ metafile: true; write: false }>;

/** The options for the module format, shared with tests that bundle parts of the program. */
export const modules = {
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
  // CommonJS dependencies call `require`.
  banner: {
    js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
  },
} satisfies BuildOptions;

/**
 * Bundles the sources. Code that several programs share, or that a command loads only when it is chosen, becomes a
 * separate file, `part-<hash>.mjs`, so that a process reads only the code that it runs. All files belong in one
 * folder. The program reports `version`, by default that of cli/package.json.
 */
export function bundleProgram(version?: string): Promise<Bundle> {
  return build({
    absWorkingDir: root,
    entryPoints: {
      main: "cli/src/program.ts",
      // The programs of threads; the program that starts a thread looks for its file in its own folder.
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
    // Paths in source maps are relative to this folder, wherever the files are written.
    outdir: "dist",
    write: false,
    metafile: true,
    outExtension: { ".js": ".mjs" },
    chunkNames: "part-[hash]",
    ...modules,
    splitting: true,
    target: "node24",
    // Source maps are separate files for developers; reading them would block a process (docs/operations.md, "Stack
    // traces").
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    // A process keeps the text of its program in memory. Without comments, which are not even ASCII, it has a quarter
    // of the size.
    minifyWhitespace: true,
    // Short lines make the location of an unexpected error useful.
    lineLimit: 300,
    // Optional parts of bunyan that this program does not use.
    external: ["dtrace-provider", "mv", "safe-json-stringify", "source-map-support"],
  });
}

/** Makes the program report the version of a release instead of that of the work tree (cli/src/version.ts). */
const releaseVersion = (version: string): Plugin => ({
  name: "release-version",
  setup(bundle) {
    bundle.onLoad({ filter: /[/\\]cli[/\\]package\.json$/ }, () => ({
      contents: JSON.stringify({ version }),
      loader: "json",
    }));
  },
});
