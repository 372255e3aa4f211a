import type { Plugin } from "esbuild";

const http = process.getBuiltinModule("node:http");

/** Names that are read each time, such as `WebSocket`, which loads all of the client behind `fetch`. */
const isRead = (name: string): boolean => Object.getOwnPropertyDescriptor(http, name)?.get !== undefined;

const names = Object.keys(http).filter((name) => !isRead(name));

/**
 * Takes `node:http` by `process.getBuiltinModule` in place of an import, which reads all names of the module and thereby loads the
 * client behind `fetch`: some 50 ms of processor time for each thread that starts. A name that is read each time is not among those
 * that can be imported, and fails the build.
 */
export const builtinHttp: Plugin = {
  name: "builtin-http",
  setup(bundle) {
    const namespace = "builtin-http";
    bundle.onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: "node:http", namespace, sideEffects: false } : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace }, () => ({
      contents: [
        'const http = process.getBuiltinModule("node:http");',
        "export default http;",
        `export const { ${names.join(", ")} } = http;`,
      ].join("\n"),
    }));
  },
};
