/** The folder of the program, as contained in images and packages. */
import { copyFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { entryModule } from "../entry-programs.ts";
import { licencesOf } from "../licences/licences.ts";
import { shippedPackages, type ShippedPackage } from "../licences/shipped-packages.ts";
import { bundleProgram } from "./bundle.ts";

/** Name of the file with the licences of the packages in the bundle. */
export const licencesFile = "THIRD-PARTY-LICENSES";

/**
 * Writes the bundle, the module that starts it, the project's licence and the licences of its packages into an
 * existing folder. Returns the packages. Throws if the licence of a package is missing or not permitted.
 */
export async function writeProgram(folder: string, version?: string): Promise<readonly ShippedPackage[]> {
  const { metafile, outputFiles } = await bundleProgram(version);
  const packages = shippedPackages(metafile);
  const licences = licencesOf(packages);
  if (!licences.ok) throw new Error(licences.error.join("\n"));
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, basename(path)), contents);
  writeFileSync(join(folder, "svc-gateway.mjs"), entryModule("main.mjs"));
  copyFileSync(resolve(import.meta.dirname, "../../LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, licencesFile), licences.value);
  return packages;
}
