/**
 * Bundles the command line into `dist/`: `main.mjs` is the program, `proxy-worker.mjs`, `password-thread.mjs` and
 * `explain-thread.mjs` those of its threads, `part-*.mjs` what they share or load on demand; `svc-gateway.mjs` starts it if
 * Node.js is new enough, `svc-gateway` with the Node that npm installed for this project. A few files start faster than a
 * thousand and are all that an image needs. `THIRD-PARTY-LICENSES` has the licences of the packages in them. What other targets
 * write, `dist/release/` and `dist/site/`, is left alone.
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

// The second name is that of a kubectl plugin: `kubectl svc_gateway`.
for (const name of ["svc-gateway", "kubectl-svc_gateway"]) {
  const launcher = join(output, name);
  writeFileSync(launcher, launcherScript("svc-gateway.mjs"));
  chmodSync(launcher, 0o755);
}
