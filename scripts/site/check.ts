/**
 * Finds faults of a built site: links that lead nowhere within it, and resources of other hosts.
 * scripts/test/docs.test.ts checks links between Markdown files; this module checks the output of the generator.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The number of pages in a folder that is served at `base`, and their faults, one per line, sorted. */
export function faultsOfSite(
  folder: string,
  base: string,
): { readonly pages: number; readonly faults: readonly string[] } {
  const files = globSync("**/*", { cwd: folder });
  const present = new Set(files);
  const ids = new Map(
    files
      .filter((file) => file.endsWith(".html"))
      .map((file) => {
        const html = readFileSync(join(folder, file), "utf8");
        return [file, { html, ids: new Set(valuesOf(html, /\sid="([^"]*)"/g)) }] as const;
      }),
  );
  const faults = [...ids].flatMap(([page, { html }]) => [
    ...valuesOf(html, /<a\s[^>]*?href="([^"]*)"/g).flatMap((link) => {
      const target = targetOf(page, link, base);
      if (target === undefined) return [];
      if (!present.has(target.file)) return [`${page}: ${link}: no such page`];
      const isThere = target.fragment === "" || ids.get(target.file)?.ids.has(target.fragment) !== false;
      return isThere ? [] : [`${page}: ${link}: no such heading`];
    }),
    ...valuesOf(
      html,
      /<(?:script|img|link|iframe|source)\s[^>]*?(?:src|href)="((?:https?:)?\/\/[^"]*)"/g,
    ).map((address) => `${page}: ${address}: a resource of another host`),
  ]);
  return { pages: ids.size, faults: [...new Set(faults)].sort() };
}

/** The file to which a link leads; undefined for a link that leaves the site. */
function targetOf(
  page: string,
  link: string,
  base: string,
): { readonly file: string; readonly fragment: string } | undefined {
  if (/^(?:[a-z]+:|\/\/)/i.test(link)) return undefined;
  const [address = "", fragment = ""] = link.split("#");
  const path = decodeURIComponent(address.replace(/\?.*/, ""));
  const absolute = path.startsWith(base) ? path.slice(base.length) : join(dirname(page), path);
  const file = path === "" ? page : /(?:^|\/)$/.test(absolute) ? `${absolute}index.html` : absolute;
  return { file: file.replace(/^\.\//, ""), fragment: decodeURIComponent(fragment) };
}

const valuesOf = (html: string, pattern: RegExp): readonly string[] =>
  [...html.matchAll(pattern)].map(([, value = ""]) => value.replaceAll("&amp;", "&"));
