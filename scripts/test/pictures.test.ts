import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { plotOf } from "../../bench/compare/report/plot.ts";
import { filterOrder } from "../../proxy/src/filters/order.ts";
import { faultsPicture } from "../pictures/faults.ts";
import { pictures } from "../pictures/pictures.ts";
import { requestPicture } from "../pictures/request.ts";
import { linesOf } from "../pictures/svg.ts";
import { numbersOf, tableAfter } from "../pictures/tables.ts";

const root = new URL("../../", import.meta.url).pathname;

const namesOf = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text = ""]) => text);

describe("the pictures of the documentation", () => {
  it("the way of a request shows every filter, in the order in which they run", () => {
    const slugs = filterOrder.map(({ slug }) => slug);
    const shown = namesOf(requestPicture(filterOrder)).filter((text) => slugs.some((slug) => slug === text));
    expect(shown).to.deep.equal(slugs);
  });

  it("every picture describes itself, uses no colour of its own and is on a page", () => {
    const pages = globSync("docs/**/*.md", { cwd: root }).map((page) => readFileSync(root + page, "utf8"));
    for (const [path, picture] of Object.entries(pictures)) {
      const svg = picture();
      expect(svg, path).to.match(/aria-label="[^"]{40,}"/);
      expect(svg.replace(/<style>.*<\/style>/s, ""), path).not.to.match(/#[0-9a-f]{3,6}\b(?!\))/i);
      const name = path.replace("docs/", "");
      expect(
        pages.some((page) => page.includes(`${name})`)),
        path,
      ).to.equal(true);
    }
  });

  it("the site has a colour for every name of the pictures, light and dark", () => {
    const css = readFileSync(`${root}scripts/site/.vitepress/theme/site.css`, "utf8");
    const svg = Object.values(pictures)
      .map((picture) => picture())
      .join("");
    const named = new Set([...svg.matchAll(/var\((--picture-[a-z]+)\)/g)].map(([, name = ""]) => name));
    for (const name of named) expect(css.split(`${name}:`), name).to.have.lengthOf(3);
  });

  it("a fault is drawn with its range and its limit, and rows without a figure are left out", () => {
    const page =
      "\n## What faults cost\n\n| Fault | Until | Measured | Limit |\n| - | - | - | - |\n| a | b | 0.4 to 5.7 s | 10 s |\n| | c | 2 s | |\n| d | | | |\n\n";
    const svg = faultsPicture(page);
    expect(namesOf(svg)).to.include.members(["a", "b", "c", "0.4 to 5.7 s", "2 s"]);
    expect(namesOf(svg)).not.to.include("d");
    // Two bars, one limit, and the mark of the legend.
    expect(svg.match(/<rect/g)).to.have.lengthOf(4);
  });

  it("the plot of a benchmark has each proxy at its ratio to nginx, and names the cases", () => {
    const samples = (units: number) => [{ units, errors: 0, cpuSeconds: 1 }];
    const circumstances = { commit: "", date: "", command: "", node: "", processors: "", load: 0 };
    const svg = plotOf({
      circumstances,
      rounds: 1,
      seconds: 1,
      cases: [
        {
          name: "a",
          title: "A case",
          unit: "requests",
          subjects: { gateway: samples(200), nginx: samples(100), envoy: samples(50) },
        },
      ],
    });
    expect(namesOf(svg)).to.include.members(["A case", "E", "this proxy", "E envoy"]);
    const xOf = (pattern: RegExp): number => Number(pattern.exec(svg)?.[1]);
    const nginx = xOf(/<text x="([\d.]+)"[^>]*>nginx</);
    const ahead = Number([...svg.matchAll(/<circle cx="([\d.]+)"/g)].at(-1)?.[1]);
    // Twice as good and half as good are equally far from the reference.
    expect(ahead - nginx)
      .to.be.greaterThan(0)
      .and.closeTo(nginx - xOf(/<text x="([\d.]+)"[^>]*>E</), 0.2);
  });

  it("a page without the table of a picture is an error that names its heading", () => {
    expect(() => tableAfter("# A\n", "## B")).to.throw('There is no table after "## B"');
  });

  it("the numbers of a cell are read without units and separators", () => {
    expect(numbersOf("10,371 to 0.5 s")).to.deep.equal([10371, 0.5]);
    expect(linesOf("aa bb cc", 5)).to.deep.equal(["aa bb", "cc"]);
  });
});
