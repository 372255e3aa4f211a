/**
 * Makes an OCI image out of file trees, without a container engine.
 *
 *   mkimage.ts --out LAYOUT_DIR --tag NAME [--tag NAME ...] [--tar FILE]
 *              [--from LAYOUT_DIR] [--tree DIR[=/path/in/image] ...]
 *              [--entrypoint JSON] [--cmd JSON] [--env K=V ...]
 *              [--workdir DIR] [--user UID[:GID]] [--port 8080/tcp ...] [--label K=V ...]
 *              [--architecture amd64|arm64] [--created SECONDS] [--gzip]
 *
 * Every --tree becomes one layer with fixed owner and time stamps, so the same files give the same digest; --gzip compresses it.
 * The image is for this machine and of 1970 unless --architecture and --created say otherwise.
 * --from puts the layers on top of an image that this program made before. `ctr images import FILE` takes the result.
 * Formats: OCI Image Format Specification 1.1, "Image Layout", "Image Manifest", "Image Configuration".
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

type Descriptor = { readonly mediaType: string; readonly digest: string; readonly size: number };

type RunConfig = {
  Entrypoint?: readonly string[];
  Cmd?: readonly string[];
  WorkingDir?: string;
  User?: string;
  Env?: readonly string[];
  ExposedPorts?: Readonly<Record<string, object>>;
  Labels?: Readonly<Record<string, string>>;
};

type ImageConfig = {
  readonly config?: RunConfig;
  readonly rootfs: { readonly diff_ids: readonly string[] };
  readonly history?: readonly object[];
};

type Manifest = { readonly config: Descriptor; readonly layers: readonly Descriptor[] };

/** A layer with the digest of its content before compression. */
type Layer = { readonly descriptor: Descriptor; readonly diffId: string };

/** The accumulated parts of an image while trees are added on top. */
type Stack = {
  readonly layers: readonly Layer[];
  readonly history: readonly object[];
  readonly config: RunConfig;
};

const one = { type: "string" } as const;
const many = { type: "string", multiple: true, default: [] as string[] } as const;
const { values: options } = parseArgs({
  options: {
    out: one,
    tar: one,
    from: one,
    entrypoint: one,
    cmd: one,
    workdir: one,
    user: one,
    tag: many,
    tree: many,
    env: many,
    port: many,
    label: many,
    architecture: one,
    created: one,
    gzip: { type: "boolean", default: false },
  },
});

const layerType = "application/vnd.oci.image.layer.v1.tar";
const configType = "application/vnd.oci.image.config.v1+json";
const manifestType = "application/vnd.oci.image.manifest.v1+json";
const created = new Date(Number(options.created ?? 0) * 1000).toISOString().replace(".000Z", "Z");
const defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const architecture = options.architecture ?? (process.arch === "x64" ? "amd64" : process.arch);

const fixedTarOptions = [
  "--sort=name",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  "--mtime=@0",
  "--pax-option=delete=atime,delete=ctime",
];

function make(layout: string): void {
  rmSync(layout, { recursive: true, force: true });
  mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
  let stack: Stack =
    options.from === undefined
      ? { layers: [], history: [], config: {} }
      : copyBase({ from: options.from, layout });
  for (const tree of options.tree) stack = addTree(stack, { tree, layout });
  const manifest = writeImage(stack, layout);
  if (options.tar !== undefined) packLayout(layout, options.tar);
  process.stdout.write(`${options.tag[0]} ${manifest.digest}\n`);
}

/** Copies the layers of an image that this program made. */
function copyBase({ from, layout }: { readonly from: string; readonly layout: string }): Stack {
  const index = readJson<{ readonly manifests: readonly Descriptor[] }>(join(from, "index.json"));
  const [entry] = index.manifests;
  if (entry === undefined) throw new Error(`${from} contains no image`);
  const manifest = readJson<Manifest>(blobPath(from, entry.digest));
  const base = readJson<ImageConfig>(blobPath(from, manifest.config.digest));
  for (const { digest } of manifest.layers) cpSync(blobPath(from, digest), blobPath(layout, digest));
  const layers = manifest.layers.map((descriptor, position) => ({
    descriptor,
    diffId: base.rootfs.diff_ids[position] ?? descriptor.digest,
  }));
  return { layers, history: base.history ?? [], config: base.config ?? {} };
}

function addTree(stack: Stack, { tree, layout }: { readonly tree: string; readonly layout: string }): Stack {
  const [folder = ".", at = "/"] = tree.split("=");
  const prefix = at.replaceAll(/^\/+|\/+$/g, "");
  const scratch = mkdtempSync(join(dirname(layout), ".layer-"));
  const file = join(scratch, "layer.tar");
  const fd = openSync(file, "w");
  const move = prefix === "" ? [] : [`--transform=flags=rSh;s,^\\.,./${prefix},`];
  execFileSync("tar", [...fixedTarOptions, "--format=posix", ...move, "-C", folder, "-cf", "-", "."], {
    stdio: ["ignore", fd, "inherit"],
  });
  closeSync(fd);
  const layer = putLayer(layout, file);
  rmSync(scratch, { recursive: true });
  return {
    ...stack,
    layers: [...stack.layers, layer],
    history: [...stack.history, { created, created_by: `tree ${at}` }],
  };
}

function putLayer(layout: string, file: string): Layer {
  const content = readFileSync(file);
  const diffId = digestOf(content);
  if (options.gzip) return { descriptor: putBytes(layout, `${layerType}+gzip`, gzipSync(content)), diffId };
  const { size } = statSync(file);
  renameSync(file, blobPath(layout, diffId));
  return { descriptor: { mediaType: layerType, digest: diffId, size }, diffId };
}

function writeImage(stack: Stack, layout: string): Descriptor {
  const platform = { architecture, os: "linux" };
  const config = putBlob(layout, configType, {
    created,
    ...platform,
    config: runConfig(stack.config),
    rootfs: { type: "layers", diff_ids: stack.layers.map(({ diffId }) => diffId) },
    history: stack.history,
  });
  const manifest = putBlob(layout, manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config,
    layers: stack.layers.map(({ descriptor }) => descriptor),
  });
  writeJson(join(layout, "oci-layout"), { imageLayoutVersion: "1.0.0" });
  writeJson(join(layout, "index.json"), {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: options.tag.map((tag) => ({
      ...manifest,
      platform,
      annotations: {
        "io.containerd.image.name": tag,
        "org.opencontainers.image.ref.name": tag.slice(tag.lastIndexOf(":") + 1),
      },
    })),
  });
  return manifest;
}

/** The configuration of the base, with the options of the command line on top. */
function runConfig(base: RunConfig): RunConfig {
  const config: RunConfig = { ...base };
  if (options.entrypoint !== undefined) {
    config.Entrypoint = JSON.parse(options.entrypoint) as string[];
    delete config.Cmd;
  }
  if (options.cmd !== undefined) config.Cmd = JSON.parse(options.cmd) as string[];
  if (options.workdir !== undefined) config.WorkingDir = options.workdir;
  if (options.user !== undefined) config.User = options.user;
  const given = new Set(options.env.map(nameOf));
  config.Env = [...(base.Env ?? [defaultPath]).filter((entry) => !given.has(nameOf(entry))), ...options.env];
  if (options.port.length > 0)
    config.ExposedPorts = Object.fromEntries(options.port.map((port) => [port, {}]));
  if (options.label.length > 0) {
    const labels = options.label.map((label) => [nameOf(label), label.slice(label.indexOf("=") + 1)]);
    config.Labels = { ...base.Labels, ...(Object.fromEntries(labels) as Record<string, string>) };
  }
  return config;
}

function packLayout(layout: string, tar: string): void {
  mkdirSync(dirname(tar), { recursive: true });
  const unfinished = `${tar}.tmp`;
  execFileSync("tar", [...fixedTarOptions, "-C", layout, "-cf", unfinished, "."]);
  renameSync(unfinished, tar);
}

const putBlob = (layout: string, mediaType: string, value: object): Descriptor =>
  putBytes(layout, mediaType, Buffer.from(JSON.stringify(value)));

function putBytes(layout: string, mediaType: string, bytes: Buffer): Descriptor {
  const digest = digestOf(bytes);
  writeFileSync(blobPath(layout, digest), bytes);
  return { mediaType, digest, size: bytes.length };
}

const nameOf = (entry: string): string => entry.split("=")[0] ?? entry;
const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const blobPath = (layout: string, digest: string): string =>
  join(layout, "blobs", "sha256", digest.slice("sha256:".length));
const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;
const writeJson = (path: string, value: object): void => writeFileSync(path, JSON.stringify(value));

const { out } = options;
if (out === undefined || options.tag.length === 0) {
  process.stderr.write("mkimage: --out and --tag are required\n");
  process.exitCode = 2;
} else {
  make(out);
}
