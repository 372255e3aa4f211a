import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { buildSite, type Site } from "../site/build-site.ts";

const cache = resolve(import.meta.dirname, "../../.cache");
const generator = resolve(import.meta.dirname, "../site/node_modules/vitepress");

describe("the site of a repository with releases", function () {
  // Each version runs the generator.
  this.timeout(300_000);
  let folder: string;
  let site: Site;
  before(function () {
    if (!existsSync(generator)) this.skip();
    // The generator resolves its packages from the folder of the pages upwards.
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, "site-versions-"));
    const root = join(folder, "repository");
    mkdirSync(join(root, "docs"), { recursive: true });
    site = {
      root,
      work: join(folder, "work"),
      output: join(folder, "out"),
      base: "/docs/",
      hasReleases: true,
    };
    const git = (...args: readonly string[]): Buffer =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: root });
    const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
    git("init", "--quiet");
    write("package.json", "{}");
    write("README.md", "# Gateway\n\nServes.\n");
    for (const version of ["1.9.0", "1.10.0"]) {
      write("docs/cli.md", `# Command line\n\nText of ${version}.\n`);
      git("add", "--all");
      git("commit", "--quiet", "--message", version);
      git("tag", `v${version}`);
    }
    write("docs/cli.md", "# Command line\n\nText of the work tree.\n");
    write("docs/glossary.md", "# Glossary\n\nWords.\n");
    const built = buildSite(site);
    if (!built.ok) throw new Error(built.error.message);
  });
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  const page = (path: string): string => readFileSync(join(site.output, path), "utf8");

  it("each release has its own text in its own folder, and the work tree that of today", () => {
    expect(page("cli.html")).to.include("Text of the work tree.");
    expect(page("v1.9.0/cli.html")).to.include("Text of 1.9.0.");
    expect(page("v1.10.0/cli.html")).to.include("Text of 1.10.0.");
    expect(existsSync(join(site.output, "glossary.html"))).to.equal(true);
    expect(existsSync(join(site.output, "v1.10.0/glossary.html")), "a page of later").to.equal(false);
    expect(page("v1.9.0/cli.html")).to.match(/(?:src|href)="\/docs\/v1\.9\.0\//);
  });

  it("the switch of every version lists all of them, the newest release first, and its foot names its own", () => {
    for (const [path, own] of [
      ["cli.html", "Unreleased"],
      ["v1.10.0/cli.html", "1.10.0"],
      ["v1.9.0/cli.html", "1.9.0"],
    ] as const) {
      const names = [...page(path).matchAll(/<option value="([^"]*)"/g)].map(([, name]) => name);
      expect(names.slice(0, 3), path).to.deep.equal(["Unreleased", "1.10.0", "1.9.0"]);
      expect(page(path), "its foot").to.include(`${own} · Apache License 2.0`);
    }
  });
});
