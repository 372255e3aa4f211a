import type { Plugin } from "esbuild";

const http = process.getBuiltinModule("node:http");

/** Whether a name is a getter, such as `WebSocket`, which loads the whole client behind `fetch`. */
const isRead = (name: string): boolean => Object.getOwnPropertyDescriptor(http, name)?.get !== undefined;

const names = Object.keys(http).filter((name) => !isRead(name));

/**
 * Loads `node:http` by `process.getBuiltinModule` instead of an import. An import reads all names of the module and
 * thereby loads the client behind `fetch`, which takes about 50 ms of processor time for each thread that starts.
 * Names that are getters cannot be imported, and fail the build.
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
