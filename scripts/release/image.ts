/** The image for all architectures as one archive in the OCI image layout (OCI Image Format Specification 1.1). */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { imageConfig, nodeLicencePath, nodePath, programFolder } from "../image/contents.ts";
import { tarOf } from "./archive.ts";
import { architectures, readBasePackages, type Architecture } from "./base/debian.ts";
import { writeBaseTree } from "./base/tree.ts";
import { sha256Of } from "./checksums.ts";
import { nodePackage } from "./node-binary.ts";
import { root, type ReleaseSource } from "./source.ts";

type Descriptor = { readonly mediaType: string; readonly digest: string; readonly size: number };

type PlatformDescriptor = Descriptor & { readonly platform: object };

const indexType = "application/vnd.oci.image.index.v1+json";

/** Writes the image with the program in `app` as `file`; `scratch` is an empty folder. */
export function packImage(
  file: string,
  app: string,
  scratch: string,
  source: ReleaseSource,
): Result<undefined> {
  const layout = join(scratch, "layout");
  const manifests: PlatformDescriptor[] = [];
  for (const architecture of architectures) {
    const made = writeLayout(architecture, app, scratch, source);
    if (!made.ok) return made;
    cpSync(join(made.value, "blobs"), join(layout, "blobs"), { recursive: true });
    const index = JSON.parse(readFileSync(join(made.value, "index.json"), "utf8")) as {
      readonly manifests: readonly PlatformDescriptor[];
    };
    // The annotations name an image of one architecture.
    for (const { mediaType, digest, size, platform } of index.manifests) {
      manifests.push({ mediaType, digest, size, platform });
    }
  }
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }));
  const digest = sha256Of(index);
  writeFileSync(join(layout, "blobs/sha256", digest), index);
  const annotations = {
    // The name of the image after an import. It has a host, because a name without one is looked up in a registry.
    "io.containerd.image.name": `localhost/svc-gateway:${source.version}`,
    "org.opencontainers.image.ref.name": source.version,
  };
  const entry = { mediaType: indexType, digest: `sha256:${digest}`, size: index.length, annotations };
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(
    join(layout, "index.json"),
    JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [entry] }),
  );
  writeFileSync(file, tarOf(layout, { epochSeconds: source.epochSeconds }));
  return ok(undefined);
}

/** Makes the layout of one architecture: a layer for the base, one for Node.js and one for the program. */
function writeLayout(
  architecture: Architecture,
  app: string,
  scratch: string,
  { version, commit, epochSeconds }: ReleaseSource,
): Result<string> {
  const trees = join(scratch, architecture);
  const [base, node] = [join(trees, "base"), join(trees, "node")];
  mkdirSync(base, { recursive: true });
  const based = writeBaseTree(base, architecture, readBasePackages());
  if (!based.ok) return based;
  const found = nodePackage(architecture);
  if (!found.ok) return found;
  for (const path of [nodePath, nodeLicencePath]) mkdirSync(dirname(join(node, path)), { recursive: true });
  copyFileSync(join(found.value.folder, "bin/node"), join(node, nodePath));
  copyFileSync(join(found.value.folder, "LICENSE"), join(node, nodeLicencePath));
  for (const tree of [base, node]) setModes(tree);
  const labels = {
    "org.opencontainers.image.title": "svc-gateway",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": commit,
    "org.opencontainers.image.licenses": "Apache-2.0",
  };
  const layout = join(trees, "layout");
  const { user, workingFolder, entrypoint, environment } = imageConfig;
  const pairs = (flag: string, values: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  execFileSync(
    process.execPath,
    [
      join(root, "scripts/image/mkimage.ts"),
      ...["--out", layout, "--tag", `svc-gateway:${version}`],
      ...["--architecture", architecture, "--created", String(epochSeconds), "--gzip"],
      ...["--tree", base, "--tree", node, "--tree", `${app}=${programFolder}`],
      ...["--entrypoint", JSON.stringify(entrypoint), "--workdir", workingFolder, "--user", user],
      ...pairs("--env", environment),
      ...pairs("--label", labels),
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  return ok(layout);
}

/**
 * Makes the permissions of a tree independent of the umask: readable for all, and executable for all if executable
 * for the owner. Folders with the sticky bit, such as /tmp, keep their permissions.
 */
export function setModes(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const isOpen = (stats.mode & 0o1000) !== 0;
  const isExecutable = stats.isDirectory() || (stats.mode & 0o100) !== 0;
  if (!isOpen) chmodSync(path, isExecutable ? 0o755 : 0o644);
  if (stats.isDirectory()) for (const name of readdirSync(path)) setModes(join(path, name));
}
