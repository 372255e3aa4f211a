/**
 * Writes the pages of a work tree in the form that the generator reads: with the paths of the site, links that are
 * valid there, a first page and lists of folders. The files of the work tree are written for GitHub and are not
 * changed.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { joinCode, leadOf, replaceLinks, replaceText, titleOf } from "./markdown.ts";
import { filesOf, sections } from "./navigation.ts";
import { pagesOf } from "./pages.ts";

export type Stage = {
  /** The work tree, or the folder with that of a release. */
  readonly root: string;
  /** The folder to which the pages are written; it is removed first. */
  readonly target: string;
  /** The address of the repository for browsers; without it, links to sources become text. */
  readonly repository?: string | undefined;
};

/** Titles of the generated lists of pages, for folders without a README. */
const lists: Readonly<Record<string, string>> = {
  "docs/adr": "Decisions",
  "docs/features": "Features",
  "docs/reference": "Reference pages",
};

/** The content of the navigation: sections in order, with the titles and paths of their pages. */
export type Navigation = readonly {
  readonly title: string;
  readonly purpose: string;
  readonly pages: readonly {
    readonly title: string;
    readonly path: string;
    readonly file: string;
    readonly group?: string;
  }[];
}[];

export function stage({ root, target, repository }: Stage): Navigation {
  const pages = pagesOf(root);
  const texts = new Map([...pages.keys()].map((file) => [file, readFileSync(join(root, file), "utf8")]));
  rmSync(target, { recursive: true, force: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  };
  for (const [file, path] of pages) {
    write(path, pageOf({ root, file, path, text: texts.get(file) ?? "", pages, repository }));
  }
  if (existsSync(join(root, "docs/images")))
    cpSync(join(root, "docs/images"), join(target, "images"), { recursive: true });
  for (const [folder, title] of Object.entries(lists)) {
    const entries = [...texts].filter(([file]) => dirname(file) === folder);
    if (entries.length > 0) write(join(relative("docs", folder), "index.md"), listOf(title, entries));
  }
  const all = sections.map((section) => ({
    title: section.title,
    purpose: section.purpose,
    pages: filesOf(section, pages.keys()).map(({ file, ...group }) => ({
      title: shortTitleOf(file, texts.get(file) ?? ""),
      path: `/${(pages.get(file) ?? "").replace(/(?:index)?\.md$/, "")}`,
      file,
      ...group,
    })),
  }));
  // A release from before a section was added has no pages of it.
  const navigation = all.filter((section) => section.pages.length > 0);
  write("index.md", firstPage(navigation, texts.get("README.md") ?? ""));
  return navigation;
}

type Page = {
  readonly root: string;
  readonly file: string;
  readonly path: string;
  readonly text: string;
  readonly pages: ReadonlyMap<string, string>;
  readonly repository: string | undefined;
};

function pageOf({ root, file, path, text, pages, repository }: Page): string {
  const linked = replaceLinks(
    text.replaceAll(/<!--.*?-->\n*/gs, ""),
    ({ isPicture, text: label, target }) => {
      const written = `${isPicture ? "!" : ""}[${label}](${target})`;
      if (/^(?:[a-z]+:|#)/.test(target)) return written;
      const [name = "", fragment] = target.split("#");
      const named = normalize(join(dirname(file), name)).replace(/\/$/, "");
      const to = pages.get(named) ?? pages.get(join(named, "README.md")) ?? placeOf(named);
      if (to !== undefined) {
        const short = relative(dirname(path), to);
        const address = short.startsWith(".") ? short : `./${short}`;
        return `${isPicture ? "!" : ""}[${label}](${address}${fragment === undefined ? "" : `#${fragment}`})`;
      }
      if (repository === undefined) return sourceName(label, named);
      const kind = statSync(join(root, named), { throwIfNoEntry: false })?.isDirectory() === true;
      return `[${label}](${repository}/${kind ? "tree" : "blob"}/HEAD/${named})`;
    },
  );
  return joinCode(replaceText(linked, asText));
}

/** Escapes text that the generator would interpret as an element or an interpolation; pages use neither. */
const asText = (text: string): string =>
  text.replaceAll("{{", "&#123;&#123;").replaceAll(/<(?!https?:)/g, "&lt;");

/** The place of a picture or a list on the site; undefined for other files. */
function placeOf(named: string): string | undefined {
  if (named.startsWith("docs/images/")) return relative("docs", named);
  return named in lists ? join(relative("docs", named), "index.md") : undefined;
}

/**
 * The text for a link to a source without an address: the label, with the path unless the label already contains it.
 */
const sourceName = (label: string, named: string): string =>
  label.includes("`") || named.endsWith(label) ? label : `${label} (\`${named}\`)`;

/** The title in the navigation: decisions with their numbers, pages of one word with the word. */
function shortTitleOf(file: string, text: string): string {
  if (file === "README.md") return "Overview";
  return (titleOf(text) ?? file).replace(/^(\d+)\. /, "$1 ");
}

function listOf(title: string, entries: readonly (readonly [string, string])[]): string {
  const rows = entries.map(([file, text]) => {
    const lead = leadOf(text);
    return `- [${titleOf(text) ?? file}](./${file.replace(/^.*\//, "")})${lead === "" ? "" : `: ${lead}`}`;
  });
  return replaceText(`# ${title}\n\n${rows.join("\n")}\n`, asText);
}

/** The first page: a description from the README, where to begin, and the sections. */
function firstPage(navigation: Navigation, readme: string): string {
  const actions = [
    ["brand", "First hour on a laptop", "/tutorials/first-hour"],
    ["alt", "Install on a cluster", "/tutorials/first-day"],
    ["alt", "Examples", "/examples/"],
  ].filter(([, , link]) => navigation.some(({ pages }) => pages.some(({ path }) => path === link)));
  const frontmatter = {
    layout: "home",
    hero: {
      name: titleOf(readme) ?? "svc-gateway",
      tagline: leadOf(readme),
      actions: actions.map(([theme, text, link]) => ({ theme, text, link })),
    },
    features: navigation.map(({ title, purpose, pages: [first] }) => ({
      title,
      details: purpose,
      link: first?.path ?? "/",
    })),
  };
  // JSON is valid YAML.
  return `---\n${JSON.stringify(frontmatter)}\n---\n`;
}
