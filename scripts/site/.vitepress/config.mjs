// What VitePress builds: the pages that scripts/site/main.ts has staged, with the settings that it has written beside them.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fragmentOf } from "../markdown.ts";
import { inlinePictures } from "../inline-pictures.ts";

const settings = JSON.parse(readFileSync(process.env.SITE_SETTINGS, "utf8"));

const sidebar = settings.navigation.map(({ title, pages }, index) => {
  const items = [];
  for (const { title: text, path: link, group } of pages) {
    if (group === undefined) {
      items.push({ text, link });
      continue;
    }
    const present = items.find((item) => item.text === group && item.items !== undefined);
    if (present) present.items.push({ text, link });
    else items.push({ text: group, collapsed: true, items: [{ text, link }] });
  }
  return { text: title, collapsed: index > 0, items };
});

const files = new Map(
  settings.navigation.flatMap(({ pages }) => pages.map(({ path, file }) => [path, file])),
);

/** The text of a page for the index, without the colours of its code, which take most of the time. */
const renderForSearch = (source, environment, md) => {
  const { highlight } = md.options;
  md.options.highlight = null;
  try {
    return md.render(source, environment);
  } finally {
    md.options.highlight = highlight;
  }
};

// oxlint-disable-next-line import/no-default-export -- VitePress imports it
export default {
  title: "svc-gateway",
  description: "An Ingress controller and Gateway API implementation on Node.js",
  lang: "en",
  base: settings.base,
  srcDir: settings.pages,
  outDir: settings.output,
  cacheDir: settings.cache,
  // Every link and fragment of the written pages is checked afterwards (scripts/site/check.ts).
  ignoreDeadLinks: true,
  metaChunk: true,
  head: [
    ["meta", { name: "color-scheme", content: "light dark" }],
    // Without one, browsers ask for a file that does not exist.
    ["link", { rel: "icon", href: "data:," }],
  ],
  markdown: {
    anchor: { slugify: fragmentOf },
    attrs: { disable: true },
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    config: (md) => inlinePictures(md, resolve(settings.pages)),
  },
  // Pages are edited where they are written; lists and the first page are written nowhere.
  transformPageData({ relativePath, frontmatter }) {
    const file = files.get(`/${relativePath.replace(/(?:index)?\.md$/, "")}`);
    frontmatter.editLink = file !== undefined;
    frontmatter.edit = `${settings.repository}/edit/HEAD/${file}`;
  },
  themeConfig: {
    siteTitle: "svc-gateway",
    search: { provider: "local", options: { detailedView: true, _render: renderForSearch } },
    nav: [
      ...settings.navigation.map(({ title, pages }) => ({ text: title, link: pages[0].path })),
      { component: "VersionSwitch" },
    ],
    version: settings.version,
    versions: settings.versions,
    sidebar,
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    ...(settings.repository === undefined
      ? {}
      : { editLink: { text: "Edit this page", pattern: ({ frontmatter }) => frontmatter.edit } }),
    notFound: {
      title: "Page not found",
      quote:
        "There is no page at this address. It may have moved: search for it, or begin at the first page.",
      linkText: "First page",
      linkLabel: "Go to the first page",
    },
    footer: { message: `${settings.version} · Apache License 2.0` },
  },
};
