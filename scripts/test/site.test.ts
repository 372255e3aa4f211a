import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect } from "chai";
import { faultsOfSite } from "../site/check.ts";
import { fragmentsOf, joinCode, leadOf, linksOf, replaceLinks, titleOf } from "../site/markdown.ts";
import { filesOf, sections } from "../site/navigation.ts";
import { pagesOf } from "../site/pages.ts";
import { stage, type Navigation } from "../site/stage.ts";
import { versionsOf } from "../site/versions.ts";

const root = resolve(import.meta.dirname, "../..");

/** A folder with files by their paths. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-gateway-site-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe("the navigation of the site", () => {
  const pages = pagesOf(root);

  it("every page has one place in the navigation", () => {
    const placed = sections.flatMap((section) => filesOf(section, pages.keys()).map(({ file }) => file));
    expect(placed.toSorted()).to.deep.equal([...pages.keys()].toSorted());
  });

  it("every file that the navigation names exists", () => {
    const named = sections.flatMap(({ entries }) => entries.filter((entry) => typeof entry === "string"));
    expect(named.filter((file) => !pages.has(file))).to.deep.equal([]);
  });

  it("no two pages have the same path on the site", () => {
    expect(new Set(pages.values()).size).to.equal(pages.size);
  });
});

describe("the pages of the site", () => {
  const files = {
    "README.md":
      "# Gate\n\nA gate. More.\n\n[Guide](docs/style.md#one-two), [source](src/a.ts), [features](docs/features)\n",
    "docs/style.md":
      "# Guide\n\n<!-- hidden -->\n\n## One `two`\n\n![Way](images/way.svg) {{ a }} < b `<c>\n{{ d }}`\n",
    "docs/features/cors.md": "# cors\n\nAnswers [preflights](../style.md). More.\n",
    "docs/images/way.svg": "<svg/>",
    "src/a.ts": "",
  };
  const written = (repository?: string): { navigation: Navigation; read: (path: string) => string } => {
    const from = folderOf(files);
    const target = join(from, "out");
    const navigation = stage({ root: from, target, repository });
    const texts = new Map(
      ["index.md", "overview.md", "style.md", "features/cors.md", "features/index.md", "images/way.svg"].map(
        (path) => [path, readFileSync(join(target, path), "utf8")],
      ),
    );
    rmSync(from, { recursive: true });
    return { navigation, read: (path) => texts.get(path) ?? "" };
  };

  it("links between pages lead to their paths on the site, with their fragments", () => {
    const { read } = written();
    expect(read("overview.md")).to.include("[Guide](./style.md#one-two)");
    expect(read("overview.md")).to.include("[features](./features/index.md)");
    expect(read("features/cors.md")).to.include("[preflights](../style.md)");
    expect(read("style.md")).to.include("![Way](./images/way.svg)");
  });

  it("a link to a source is a text with its path, and a link where package.json names a repository", () => {
    expect(written().read("overview.md")).to.include("source (`src/a.ts`)");
    expect(written("https://example.com/gate").read("overview.md")).to.include(
      "[source](https://example.com/gate/blob/HEAD/src/a.ts)",
    );
  });

  it("comments are left out, and braces and angle brackets of a text are text", () => {
    const { read } = written();
    expect(read("style.md")).not.to.include("hidden");
    expect(read("style.md")).to.include("&#123;&#123; a }} &lt; b `<c> {{ d }}`");
  });

  it("a folder without a README gets a list of its pages with their first sentences", () => {
    expect(written().read("features/index.md")).to.equal(
      "# Features\n\n- [cors](./cors.md): Answers preflights.\n",
    );
  });

  it("the first page has the words of the README, and sections link their first page", () => {
    const { navigation, read } = written();
    expect(read("index.md")).to.include('"tagline":"A gate."');
    expect(navigation[0]?.pages[0]).to.deep.equal({
      title: "Overview",
      path: "/overview",
      file: "README.md",
    });
  });
});

describe("links and headings of Markdown pages", () => {
  it("links in code are no links, and pictures are marked", () => {
    const page = "[a](b.md) `[c](d.md)` ![e [f]](g.svg)\n\n```\n[h](i.md)\n```\n\n[j\nk](l.md#m)\n";
    expect(linksOf(page).map(({ isPicture, target }) => [isPicture, target])).to.deep.equal([
      [false, "b.md"],
      [true, "g.svg"],
      [false, "l.md#m"],
    ]);
    expect(replaceLinks("a [b](c) `[b](d)`", ({ text }) => text)).to.equal("a b `[b](d)`");
  });

  it("headings have the fragments of GitHub, and repeated ones get numbers", () => {
    expect([...fragmentsOf("# A `b.c`\n\n## [D](e.md), f\n\n## D, f\n\n```\n# g\n```\n")]).to.deep.equal([
      "a-bc",
      "d-f",
      "d-f-1",
    ]);
  });

  it("the lead of a page is its first sentence, and a page that begins with a list has none", () => {
    expect(leadOf("# A\n\nOne [two](b.md)\nthree. Four.\n")).to.equal("One two three.");
    expect(leadOf("# A\n\n- one.\n")).to.equal("");
    expect(titleOf("text\n\n# A\n")).to.equal("A");
  });

  it("code within a line is joined, and blocks keep their lines", () => {
    expect(joinCode("`a\n  <b>` c\n- `d`\n- `e`\n\n```\nf\n`g\nh`\n```\n")).to.equal(
      "`a <b>` c\n- `d`\n- `e`\n\n```\nf\n`g\nh`\n```\n",
    );
  });
});

describe("the versions of the site", () => {
  it("the work tree comes first, then releases by precedence, and other tags are left out", () => {
    const names = versionsOf(["v1.2.0", "v1.10.0-rc.2", "v1.10.0-rc.10", "v1.10.0", "nightly", ""]).map(
      ({ name }) => name,
    );
    expect(names).to.deep.equal(["Unreleased", "1.10.0", "1.10.0-rc.10", "1.10.0-rc.2", "1.2.0"]);
  });

  it("a release is built from its tag, below the site of the work tree", () => {
    expect(versionsOf(["v1.2.0"])).to.deep.equal([
      { name: "Unreleased", folder: "" },
      { name: "1.2.0", folder: "v1.2.0/", tag: "v1.2.0" },
    ]);
  });
});

describe("the check of a built site", () => {
  const faultsIn = (files: Readonly<Record<string, string>>, base = "/"): readonly string[] => {
    const folder = folderOf(files);
    const { faults } = faultsOfSite(folder, base);
    rmSync(folder, { recursive: true });
    return faults;
  };

  it("the check of the site reports links to missing pages and headings, and no others", () => {
    const page =
      '<h1 id="here"></h1><a href="#here"></a><a href="/docs/b.html#there"></a><a class="x" href="./b.html"></a>' +
      '<a href="c.html"></a><a href="/docs/b.html#nowhere"></a><a href="https://example.com/"></a><a href="/docs/"></a>';
    const files = { "index.html": page, "b.html": '<h2 id="there"></h2>' };
    expect(faultsIn(files, "/docs/")).to.deep.equal([
      "index.html: /docs/b.html#nowhere: no such heading",
      "index.html: c.html: no such page",
    ]);
  });

  it("the check of the site reports resources of another host, and none of the site itself", () => {
    const page =
      '<script src="/a.js"></script><link rel="stylesheet" href="//cdn.example.com/a.css"><img alt="" src="https://example.com/a.png">';
    expect(faultsIn({ "index.html": page })).to.deep.equal([
      "index.html: //cdn.example.com/a.css: a resource of another host",
      "index.html: https://example.com/a.png: a resource of another host",
    ]);
  });
});
