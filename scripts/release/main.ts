/** `make release VERSION=…`: builds a release into `dist/release/VERSION`, and signs it if that is possible. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { releaseFolder } from "../image/contents.ts";
import { buildRelease } from "./release.ts";
import { signRelease } from "./sign.ts";
import { parseVersion, readSource, root } from "./source.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<string | undefined> {
  const version = parseVersion(process.env["VERSION"]);
  if (!version.ok) return version.error.message;
  const source = readSource(version.value);
  const folder = join(root, "dist", releaseFolder, source.version);
  const built = await buildRelease(folder, source, process.env["BUILDER_ID"]);
  if (!built.ok) return built.error.message;
  let signature: string | undefined = "not signed: the work tree has changes that are not in the commit";
  if (source.isClean) signature = signRelease(folder, process.env);
  for (const name of readdirSync(folder).sort()) {
    print(`${String(statSync(join(folder, name)).size).padStart(11)}  ${name}`);
  }
  if (signature === undefined) return "cosign failed";
  print(signature);
  print(`release ${source.version} of commit ${source.commit}: dist/${releaseFolder}/${source.version}`);
  return undefined;
}

const problem = await main().catch(textOf);
if (problem !== undefined) {
  process.stderr.write(`release: ${problem}\n`);
  process.exitCode = 1;
}
