/** Builds the site of one version with VitePress, unless it has already been built. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stage } from "./stage.ts";
import type { Version } from "./versions.ts";

export type Build = {
  readonly version: Version;
  /** All versions of the site, for the version switch. */
  readonly versions: readonly Version[];
  /** The work tree whose pages are built. */
  readonly content: string;
  /** The folder for files that are kept between builds. */
  readonly folder: string;
  /** The folder of the whole site. */
  readonly output: string;
  /** The path of the whole site, with a slash at both ends. */
  readonly base: string;
};

const generator = import.meta.dirname;

/** Builds a version. Returns the output of the generator if it failed. */
export function buildVersion({
  version,
  versions,
  content,
  folder,
  output,
  base,
}: Build): string | undefined {
  const repository = repositoryOf(content);
  const pages = join(folder, "pages");
  const target = join(output, version.folder);
  mkdirSync(folder, { recursive: true });
  const settings = {
    base: `${base}${version.folder}`,
    pages,
    output: target,
    cache: join(folder, "generator"),
    navigation: stage({ root: content, target: pages, repository }),
    version: version.name,
    versions: versions.map(({ name, folder: below }) => ({ name, base: `${base}${below}` })),
    repository,
  };
  const settingsFile = join(folder, "settings.json");
  writeFileSync(settingsFile, JSON.stringify(settings));

  const stampFile = join(folder, "built");
  const stamp = stampOf([settingsFile, ...filesIn(pages), ...filesIn(generator)]);
  const isBuilt =
    existsSync(join(target, "index.html")) &&
    existsSync(stampFile) &&
    readFileSync(stampFile, "utf8") === stamp;
  if (isBuilt) return undefined;
  rmSync(stampFile, { force: true });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(generator, "node_modules/vitepress/bin/vitepress.js"), "build", generator],
    {
      env: { ...process.env, SITE_SETTINGS: settingsFile, NODE_ENV: "production" },
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  if (status !== 0) return `${stdout}\n${stderr}`;
  writeFileSync(stampFile, stamp);
  return undefined;
}

const filesIn = (folder: string): readonly string[] =>
  globSync("{.vitepress/**,**}/*", { cwd: folder, exclude: (name) => name === "node_modules" })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile());

/** One digest of the names and contents of files. */
function stampOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of [...new Set(files)].sort())
    hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

/** The address of the repository for browsers; undefined while package.json contains none. */
function repositoryOf(content: string): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(content, "package.json"), "utf8")) as {
    readonly repository?: string | { readonly url: string };
  };
  const address = typeof repository === "string" ? repository : repository?.url;
  return address?.replace(/^git\+/, "").replace(/\.git$/, "");
}
