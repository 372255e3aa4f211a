/** The npm packages whose code is in the bundle, found by the inputs that esbuild reports. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Metafile } from "esbuild";
import { licenceFilesOf, readText } from "./licence-files.ts";
import { copyrightLines } from "./source-copyrights.ts";

const root = resolve(import.meta.dirname, "../..");

export type ShippedPackage = {
  readonly name: string;
  readonly version: string;
  /** The licence in SPDX syntax, from package.json; undefined without one. */
  readonly licence: string | undefined;
  /** The texts of its licence files, those of its own folder first. */
  readonly texts: readonly string[];
  /** The texts of its NOTICE files, which section 4(d) of the Apache License requires. */
  readonly notices: readonly string[];
  /** Lines of its sources that name a copyright holder, such as "Copyright 2019 gRPC authors." */
  readonly copyrights: readonly string[];
  /** Subresource integrity of its archive in package-lock.json, `sha512-<base64>`. */
  readonly integrity: string | undefined;
};

type Manifest = {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
};

/** The packages of all outputs, sorted by name and version. */
export function shippedPackages({ outputs }: Pick<Metafile, "outputs">): readonly ShippedPackage[] {
  const sources = new Map<string, Set<string>>();
  for (const { inputs } of Object.values(outputs)) {
    for (const path of Object.keys(inputs)) {
      if (!/(?:^|\/)node_modules\//.test(path) || !existsSync(join(root, path))) continue;
      const folder = packageFolder(path);
      sources.set(folder, (sources.get(folder) ?? new Set()).add(path));
    }
  }
  const integrities = lockedIntegrities();
  const packages = [...sources].map(([folder, paths]) =>
    readPackage(folder, [...paths].sort(), integrities.get(folder)),
  );
  const byId = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** The folder of the package of a file: the closest one with a manifest that has a name and a version. */
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

function readPackage(
  folder: string,
  sources: readonly string[],
  integrity: string | undefined,
): ShippedPackage {
  const { name = "", version = "", license } = readManifest(folder);
  const { licences, notices } = licenceFilesOf(
    join(root, folder),
    sources.map((path) => join(root, path)),
  );
  return {
    name,
    version,
    licence: typeof license === "string" ? license : license?.type,
    texts: licences.map(readText),
    notices: notices.map(readText),
    copyrights: copyrightLines(sources.map((path) => readFileSync(join(root, path), "utf8"))),
    integrity,
  };
}

/** The integrity of packages, by folder, such as `node_modules/yaml`. */
function lockedIntegrities(): ReadonlyMap<string, string | undefined> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
  };
  return new Map(Object.entries(packages).map(([folder, { integrity }]) => [folder, integrity]));
}
