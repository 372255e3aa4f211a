/** The npm package of the command line: the folder of the program with a manifest, and no dependencies. */
import { cpSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { minNodeMajor } from "../../cli/src/node-release.ts";
import { entryModule } from "../entry-programs.ts";
import { writeTarGz } from "./archive.ts";
import { root, type ReleaseSource } from "./source.ts";

const program = "svc-gateway.mjs";

const readme = (version: string): string => `# svc-gateway ${version}

The command line of svc-gateway, an Ingress controller and Gateway API implementation, for Node.js ${minNodeMajor} or newer:

\`\`\`
npx svc-gateway check .
npx svc-gateway explain GET https://shop.example.com/cart --manifests .
npx svc-gateway serve standalone --proxy app.localhost=localhost:3000
\`\`\`

\`npx svc-gateway --help\` lists all commands. \`THIRD-PARTY-LICENSES\` has the licences of the packages that it contains.
`;

/**
 * Packs the folder of the program as `file`, in the layout of `npm pack`; `scratch` is an empty folder for its
 * content.
 */
export function packNpm(
  file: string,
  programFolder: string,
  scratch: string,
  { version, epochSeconds }: ReleaseSource,
): void {
  const folder = join(scratch, "package");
  mkdirSync(folder, { recursive: true });
  cpSync(programFolder, folder, { recursive: true });
  // npm creates a link to this file, so it is executable and names its interpreter.
  writeFileSync(join(folder, program), `#!/usr/bin/env node\n${entryModule("main.mjs")}`);
  chmodSync(join(folder, program), 0o755);
  const { description, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly description: string;
    readonly license: string;
  };
  const manifest = {
    name: "svc-gateway",
    version,
    description,
    license,
    type: "module",
    // The second name is for kubectl, which runs it as a plugin: `kubectl svc_gateway`.
    bin: { "svc-gateway": program, "kubectl-svc_gateway": program },
    engines: { node: `>=${minNodeMajor}` },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(folder, "README.md"), readme(version));
  writeTarGz(file, folder, { epochSeconds, prefix: "package" });
}
