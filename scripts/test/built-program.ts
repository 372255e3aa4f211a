import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeProgram } from "../bundle/program-folder.ts";

/**
 * Bundles the command line for the tests of a `describe`, outside the work tree; returns the path of its
 * svc-gateway.mjs.
 */
export function useBuiltProgram(): () => string {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-gateway-program-"));
    await writeProgram(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  return () => join(folder, "svc-gateway.mjs");
}
