/**
 * The two programs that start the bundle. Their syntax is understood by any version of Node.js. The bundle itself is
 * one line of newer syntax, which an older Node.js would print as a whole.
 */

import { minNodeMajor } from "../cli/src/node-release.ts";

/** The module that users start: it checks the version of Node.js before it loads `main`, a file in the same folder. */
export const entryModule = (
  main: string,
): string => `// Older releases of Node.js must be able to read this file.
var found = process.versions.node;
if (Number(found.split(".")[0]) < ${minNodeMajor}) {
  process.stderr.write(
    "svc-gateway: Node.js " + found + " is too old: version ${minNodeMajor} or newer is needed (" + process.execPath + ")\\n"
  );
  process.exit(2);
}
import("./${main}");
`;

/** The launcher: uses the Node.js that npm installed for this project, else that of the system. */
export const launcherScript = (entry: string): string => `#!/bin/sh
self=$0
while [ -h "$self" ]; do
  target=$(readlink -- "$self")
  case $target in /*) self=$target ;; *) self=$(dirname -- "$self")/$target ;; esac
done
here=$(CDPATH= cd -- "$(dirname -- "$self")" && pwd)
for node in "$here"/../node_modules/node-linux-*/bin/node; do
  [ -x "$node" ] && exec "$here/../scripts/node" "$here/${entry}" "$@"
done
if ! command -v node > /dev/null; then
  echo "svc-gateway: Node.js ${minNodeMajor} or newer is needed, and there is no node in PATH" >&2
  exit 2
fi
exec node "$here/${entry}" "$@"
`;
