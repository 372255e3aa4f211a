/**
 * The entry point of `svc-gateway` in the sources. Older releases of Node.js cannot parse its modules, so they are
 * loaded only after the release has been checked (scripts/entry-programs.ts does the same for the bundle).
 */
import { describeOldNode } from "./node-release.ts";

const problem = describeOldNode(process.versions.node, process.execPath);
if (problem !== undefined) {
  process.stderr.write(`svc-gateway: ${problem}\n`);
  process.exit(2);
}
await import("./program.ts");
