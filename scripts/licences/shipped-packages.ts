/** The npm packages whose code is in the bundle, found by the inputs that esbuild reports. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Metafile } from "esbuild";

const root = resolve(import.meta.dirname, "../..");

export type ShippedPackage = {
  readonly name: string;
  readonly version: string;
  /** SPDX expression of its package.json; undefined where it has none. */
  readonly licence: string | undefined;
  /** The texts of its licence files, by name. */
  readonly texts: readonly string[];
  /** Subresource integrity of its archive in package-lock.json, `sha512-<base64>`. */
  readonly integrity: string | undefined;
};

type Manifest = {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
};

const licenceName = /^(?:licen[cs]e|copying|notice|unlicense)/i;

/** The packages of all outputs, sorted by name and version. */
export function shippedPackages({ outputs }: Pick<Metafile, "outputs">): readonly ShippedPackage[] {
  const folders = new Set<string>();
  for (const { inputs } of Object.values(outputs)) {
    for (const path of Object.keys(inputs)) {
      if (/(?:^|\/)node_modules\//.test(path) && existsSync(join(root, path)))
        folders.add(packageFolder(path));
    }
  }
  const integrities = lockedIntegrities();
  const packages = [...folders].map((folder) => readPackage(folder, integrities.get(folder)));
  const byId = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** The folder of a file's package: the closest one whose manifest has a name and a version. */
function packageFolder(path: string): string {
  for (let folder = dirname(path); folder.includes("node_modules/"); folder = dirname(folder)) {
    const { name, version } = readManifest(folder);
    if (name !== undefined && version !== undefined) return folder;
  }
  throw new Error(`${path}: expected a package.json with a name and a version above it`);
}

function readManifest(folder: string): Manifest {
  const path = join(root, folder, "package.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Manifest) : {};
}

function readPackage(folder: string, integrity: string | undefined): ShippedPackage {
  const { name = "", version = "", license } = readManifest(folder);
  const files = readdirSync(join(root, folder)).filter((file) => licenceName.test(file));
  return {
    name,
    version,
    licence: typeof license === "string" ? license : license?.type,
    texts: files.sort().map((file) => readFileSync(join(root, folder, file), "utf8").trim()),
    integrity,
  };
}

/** Integrity of packages by their folder, such as `node_modules/yaml`. */
function lockedIntegrities(): ReadonlyMap<string, string | undefined> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
  };
  return new Map(Object.entries(packages).map(([folder, { integrity }]) => [folder, integrity]));
}
