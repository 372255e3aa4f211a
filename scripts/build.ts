/**
 * Bundles the command line into `dist/`. `main.mjs` is the program, `proxy-worker.mjs`, `password-thread.mjs` and
 * `explain-thread.mjs` are the programs of its threads, and `part-*.mjs` contain the code that they share or load on
 * demand. `svc-gateway.mjs` starts the program if Node.js is new enough; `svc-gateway` starts it with the Node.js
 * that npm installed for this project. A few files start faster than a thousand, and an image needs no others.
 * `THIRD-PARTY-LICENSES` contains the licences of the bundled packages. The output of other targets, `dist/release/`
 * and `dist/site/`, is not modified.
 */
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeProgram } from "./bundle/program-folder.ts";
import { launcherScript } from "./entry-programs.ts";
import { otherOutputs } from "./image/contents.ts";

const output = resolve(import.meta.dirname, "../dist");

mkdirSync(output, { recursive: true });
for (const name of readdirSync(output)) {
  if (!otherOutputs.has(name)) rmSync(join(output, name), { recursive: true });
}
await writeProgram(output);

// The second name is for kubectl, which runs it as a plugin: `kubectl svc_gateway`.
for (const name of ["svc-gateway", "kubectl-svc_gateway"]) {
  const launcher = join(output, name);
  writeFileSync(launcher, launcherScript("svc-gateway.mjs"));
  chmodSync(launcher, 0o755);
}
