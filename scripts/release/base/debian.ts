/**
 * The base of the image: the few Debian packages that Node.js needs, pinned by version and digest in `packages.json`.
 * APT downloads them and verifies Debian's signatures, with its own state, so that the state of the machine is
 * neither used nor changed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { sha256Of } from "../checksums.ts";
import { root } from "../source.ts";

export type Architecture = "amd64" | "arm64";
export const architectures: readonly Architecture[] = ["amd64", "arm64"];

export type BasePackage = {
  readonly name: string;
  readonly version: string;
  /** The licence in SPDX syntax; the image contains the whole text under /usr/share/doc. */
  readonly licence: string;
  readonly sha256: Readonly<Record<Architecture, string>>;
};

export type BasePackages = { readonly release: string; readonly packages: readonly BasePackage[] };

const lockFile = join(import.meta.dirname, "packages.json");
const cache = join(root, ".cache/release/debian");

export const readBasePackages = (): BasePackages =>
  JSON.parse(readFileSync(lockFile, "utf8")) as BasePackages;

export const writeBasePackages = (packages: BasePackages): void =>
  writeFileSync(lockFile, `${JSON.stringify(packages, undefined, 2)}\n`);

/** The files of the packages for an architecture, downloaded if they are not in the cache. */
export function fetchBasePackages(
  architecture: Architecture,
  { packages, release }: BasePackages,
): Result<readonly { readonly name: string; readonly file: string }[]> {
  const found = packages.map(({ name, sha256 }) => ({
    name,
    file: join(cache, `${name}-${sha256[architecture]}.deb`),
  }));
  if (found.every(({ file }) => existsSync(file))) return ok(found);
  const apt = createApt(architecture);
  if (!apt.ok) return apt;
  for (const [index, { name, version, sha256 }] of packages.entries()) {
    const bytes = apt.value.download(`${name}=${version}`);
    if (!bytes.ok) {
      return problem(
        `${name} ${version} for ${architecture} is not offered by Debian ${release} any more, expected that version: run "make release-base", and review scripts/release/base/packages.json (${bytes.error.message})`,
      );
    }
    const digest = sha256Of(bytes.value);
    if (digest !== sha256[architecture]) {
      return problem(
        `${name} ${version} for ${architecture} has the digest ${digest}, expected ${sha256[architecture]}; nothing is built from it`,
      );
    }
    writeFileSync(found[index]?.file ?? "", bytes.value);
  }
  return ok(found);
}

export type Apt = {
  /** Content of a package file; `name` may end in `=version`. */
  download(name: string): Result<Buffer>;
  /** The version that APT would install. */
  candidate(name: string): string | undefined;
};

/**
 * Creates an APT for an architecture, with up-to-date lists. It uses the sources of this machine, which must run
 * Debian or an image of it.
 */
export function createApt(architecture: Architecture): Result<Apt> {
  const state = join(cache, `apt-${architecture}`);
  for (const folder of ["lists/partial", "cache/archives/partial", "files"]) {
    mkdirSync(join(state, folder), { recursive: true });
  }
  writeFileSync(join(state, "status"), "");
  const own = [
    `Dir::State=${state}`,
    `Dir::State::lists=${state}/lists`,
    `Dir::State::status=${state}/status`,
    `Dir::Cache=${state}/cache`,
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
  ].flatMap((option) => ["-o", option]);
  const run = (program: string, args: readonly string[], cwd: string): Result<string> => {
    const { status, stdout, stderr, error } = spawnSync(program, [...own, ...args], {
      cwd,
      encoding: "utf8",
    });
    if (error !== undefined) {
      return problem(`${program} cannot be started (${error.message}), expected a machine that runs Debian`);
    }
    return status === 0
      ? ok(stdout)
      : problem(`${program}: ${stderr.trim().replaceAll(/\s+/g, " ").slice(0, 300)}`);
  };
  const updated = run("apt-get", ["-q", "update"], state);
  if (!updated.ok) return updated;
  return ok({
    download(name) {
      const folder = join(state, "files");
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      const done = run("apt-get", ["-q", "download", name], folder);
      if (!done.ok) return done;
      const [file] = readdirSync(folder);
      return file === undefined
        ? problem(`${name}: nothing was downloaded`)
        : ok(readFileSync(join(folder, file)));
    },
    candidate(name) {
      const shown = run("apt-cache", ["policy", name], state);
      const version = shown.ok ? /Candidate: (\S+)/.exec(shown.value)?.[1] : undefined;
      return version === "(none)" ? undefined : version;
    },
  });
}

/** Unpacks a package below `folder`; returns its control data. */
export function unpackDebian(file: string, folder: string): string {
  execFileSync("dpkg-deb", ["--extract", file, folder]);
  return execFileSync("dpkg-deb", ["--field", file], { encoding: "utf8" });
}
