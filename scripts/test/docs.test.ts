import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { expect } from "chai";
import { fragmentsOf, headingsOf, linksOf } from "../site/markdown.ts";

const root = new URL("../../", import.meta.url).pathname;
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const pages = ["*.md", "{cli,common,config,docs,e2e,operator,proto,proxy,scripts}/**/*.md"].flatMap(
  (pattern) => globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" }),
);
const sources = globSync("{cli,common,operator,proto,proxy,bench,e2e,scripts}/**/*.ts", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "generated",
});

/** Features with an effect that clients cannot see, with the place where it is visible. */
const pagesWithoutExample: Readonly<Record<string, string>> = {
  "access-log": "lines of the proxy's log",
  tracing: "spans at a collector, by --tracing-endpoint",
};

/** Whether a path is written only by a command, and is therefore missing in a fresh checkout. */
const isGenerated = (path: string): boolean =>
  /^(?:config\/examples\/quickstart\/generated|bench\/results\/latest)/.test(path);

describe("the documentation", () => {
  it("links in the documentation lead to existing files and headings", () => {
    const broken = pages.flatMap((page) =>
      linksOf(read(page)).flatMap(({ target: link }) => {
        if (/^[a-z]+:/.test(link)) return [];
        const [path = "", fragment] = link.split("#");
        const target = path === "" ? page : normalize(join(dirname(page), path));
        const isThere =
          existsSync(join(root, target)) &&
          (fragment === undefined || fragmentsOf(read(target)).has(fragment));
        return isThere ? [] : `${page}: ${link}`;
      }),
    );
    expect(broken).to.deep.equal([]);
  });

  it("every feature page links an example that runs, and those without one have a reason", () => {
    const withoutExample = globSync("docs/features/*.md", { cwd: root })
      .filter((page) => {
        const named = [...read(page).matchAll(/\]\(\.\.\/\.\.\/config\/examples\/([a-z-]+)\/README\.md\)/g)];
        return !named.some(([, name = ""]) =>
          existsSync(join(root, "config/examples", name, "kustomization.yaml")),
        );
      })
      .map((page) => basename(page, ".md"))
      .sort();
    expect(withoutExample).to.deep.equal(Object.keys(pagesWithoutExample));
  });

  it("files and folders of the project that pages name in code exist", () => {
    const inside = /^(?:bench|cli|common|config|crds|docs|e2e|operator|proto|proxy|scripts)\/[\w./*@-]+$/;
    const missing = pages
      // The changelog also names removed files; the reference contains values, not paths.
      .filter((page) => page !== "CHANGELOG.md" && !page.startsWith("docs/reference/"))
      .flatMap((page) =>
        [...read(page).matchAll(/`([^`\n]+)`/g)]
          .map(([, code = ""]) => code)
          .filter((code) => inside.test(code) && !isGenerated(code))
          .filter((code) => globSync(code, { cwd: root }).length === 0)
          .map((code) => `${page}: ${code}`),
      );
    expect(missing).to.deep.equal([]);
  });

  it("every room of the packages is in the table of the architecture, or in the README of its package", () => {
    const map = `${read("docs/architecture.md")}${read("cli/src/README.md")}`;
    const rooms = globSync("{cli,common,operator,proxy}/src/*/", { cwd: root });
    const unnamed = rooms.filter((room) => {
      const name = room.replace(/\/$/, "");
      return !map.includes(`\`${name}\``) && !map.includes(`\`${name.replace("cli/src/", "")}/\``);
    });
    expect(rooms).to.include("proxy/src/http");
    expect(unnamed).to.deep.equal([]);
  });

  it("docs pages and headings that docstrings name exist", () => {
    const named = /(docs\/[\w/.-]+\.md)(?:#[\w-]+)?(?:, "([^"]+)")?/g;
    const broken = sources.flatMap((source) =>
      [
        ...read(source)
          .replaceAll(/\n\s*(?:\*|\/\/)? ?/g, " ")
          .matchAll(named),
      ].flatMap(([, page = "", title]) => {
        if (!existsSync(join(root, page))) return `${source}: ${page}`;
        if (title === undefined || headingsOf(read(page)).includes(title)) return [];
        // The rules of the architecture are named in bold text, without a heading.
        return read(page).includes(`**${title}`) ? [] : `${source}: ${page}, "${title}"`;
      }),
    );
    expect(broken).to.deep.equal([]);
  });
});
