/**
 * The content of the image and its start command, for both ways of building it: the Dockerfile, and `make image`
 * without Docker. A test compares the Dockerfile with `imageConfig`.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Folder of the program inside the image. */
export const programFolder = "/app";
/** Path of Node.js inside the image. */
export const nodePath = "/usr/local/bin/node";

/** The path inside the image of the licences of Node.js and of the code compiled into it. */
export const nodeLicencePath = "/usr/local/share/doc/node/LICENSE";

/** The default configuration of a container. */
export const imageConfig = {
  /** The user `nonroot` of images without a shell. */
  user: "65532:65532",
  workingFolder: programFolder,
  entrypoint: [nodePath, `${programFolder}/svc-gateway.mjs`],
  environment: { NODE_ENV: "production" },
} as const;

/** The folder of releases inside the build output. */
export const releaseFolder = "release";

/** The folders in the build output that other targets write: releases, and the documentation site. */
export const otherOutputs: ReadonlySet<string> = new Set([releaseFolder, "site"]);

/** Files that the image omits. The launcher starts the Node.js of the work tree, which an image does not have. */
const leftOut: ReadonlySet<string> = new Set(["svc-gateway", ...otherOutputs]);

/** The output of the build. */
const builtProgram = join(root, "dist");

/** Copies the output of this or another build, and the running Node.js, to their paths in the image, under `folder`. */
export function stageImage(folder: string, program = builtProgram): void {
  rmSync(folder, { recursive: true, force: true });
  const app = join(folder, programFolder);
  mkdirSync(app, { recursive: true });
  for (const name of programFiles(program)) cpSync(join(program, name), join(app, name), { recursive: true });
  const node = join(folder, nodePath);
  mkdirSync(dirname(node), { recursive: true });
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  // The licence is in the package with Node.js; a Node.js from another source has it elsewhere.
  const licence = join(dirname(process.execPath), "../LICENSE");
  if (existsSync(licence)) {
    mkdirSync(dirname(join(folder, nodeLicencePath)), { recursive: true });
    copyFileSync(licence, join(folder, nodeLicencePath));
  }
}

/** A tag of 12 hexadecimal digits that changes with the program or its Node.js. */
export function contentTag(program = builtProgram): string {
  const hash = createHash("sha256").update(process.version).update(JSON.stringify(imageConfig));
  for (const name of programFiles(program)) {
    for (const file of filesUnder(join(program, name)))
      hash.update(relative(program, file)).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 12);
}

function programFiles(program: string): readonly string[] {
  const names = readdirSync(program).filter((name) => !leftOut.has(name));
  if (!names.includes("svc-gateway.mjs"))
    throw new Error(`${program} has no svc-gateway.mjs: run make build first`);
  return names.sort();
}

function filesUnder(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).sort();
  return names.flatMap((name) => filesUnder(join(path, name)));
}
