import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { expect } from "chai";
import { fragmentsOf, headingsOf, linksOf } from "../site/markdown.ts";

const root = new URL("../../", import.meta.url).pathname;
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const pages = ["*.md", "{config,docs,e2e}/**/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root, exclude: (name) => name === "node_modules" }),
);
const sources = globSync("{cli,common,operator,proto,proxy,bench,e2e,scripts}/**/*.ts", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "generated",
});

/** Features whose effect no client can see, with what shows it. */
const pagesWithoutExample: Readonly<Record<string, string>> = {
  "access-log": "lines of the proxy's log",
  tracing: "spans at a collector, by --tracing-endpoint",
};

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
        // The rules of the architecture have a name, but no heading of their own.
        return read(page).includes(`**${title}`) ? [] : `${source}: ${page}, "${title}"`;
      }),
    );
    expect(broken).to.deep.equal([]);
  });
});
