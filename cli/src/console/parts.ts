/** The building blocks of pages. */
import { html, type Html, type Part } from "./html.ts";

export type Tone = "good" | "warn" | "bad" | "plain";

/** A state in a word; the colour adds no information. */
export const badge = (text: string, tone: Tone = "plain"): Html =>
  html`<span class="badge ${tone}">${text}</span>`;

export const chip = (text: string): Html => html`<span class="chip">${text}</span>`;

export type Column = { readonly name: string; readonly isNumber?: true };

/** A table, or the text `empty` if it has no rows. */
export const table = (columns: readonly Column[], rows: readonly (readonly Part[])[], empty: string): Html =>
  rows.length === 0
    ? html`<p class="note">${empty}</p>`
    : html`<div class="scroll">
        <table>
          <thead>
            <tr>
              ${columns.map(
                ({ name, isNumber }) =>
                  html`<th scope="col" ${isNumber === true && html` class="num"`}>${name}</th>`,
              )}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (row) =>
                html`<tr>
                  ${row.map(
                    (cell, index) =>
                      html`<td${columns[index]?.isNumber === true && html` class="num"`}>${cell}</td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`;

export const card = (title: string, body: Part, aside?: Part): Html =>
  html`<section class="card">
    <header>
      <h2>${title}</h2>
      ${aside}
    </header>
    ${body}
  </section>`;

export const definitions = (rows: readonly (readonly [string, Part])[]): Html =>
  html`<dl>
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;

/** A number on the overview, with a link to its page. */
export const stat = (value: string | number, name: string, to: string, tone: Tone = "plain"): Html =>
  html`<a class="stat ${tone}" href="${to}"><b>${value}</b><span>${name}</span></a>`;

/** The number of rows on a page. */
export const pageSize = 50;

export type Paged<Row> = {
  readonly rows: readonly Row[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
};

/** The rows of one page, from 1; a page number out of range selects the nearest page. */
export function paged<Row>(all: readonly Row[], page: number): Paged<Row> {
  const pages = Math.max(1, Math.ceil(all.length / pageSize));
  const shown = Math.min(Math.max(1, page), pages);
  return { rows: all.slice((shown - 1) * pageSize, shown * pageSize), page: shown, pages, total: all.length };
}

/** Links to the previous and next page; undefined if there is only one. */
export function pager(
  path: string,
  query: Readonly<Record<string, string>>,
  { page, pages, total }: Pick<Paged<unknown>, "page" | "pages" | "total">,
): Part {
  if (pages === 1) return undefined;
  const link = (to: number): string => linkTo(path, { ...query, page: String(to) });
  return html`<div class="pager">
    <span>${page > 1 ? html`<a rel="prev" href="${link(page - 1)}">Previous</a>` : "Previous"}</span>
    <span>Page ${page} of ${pages}, ${total} in all</span>
    <span>${page < pages ? html`<a rel="next" href="${link(page + 1)}">Next</a>` : "Next"}</span>
  </div>`;
}

/** A path with a query, from which empty values are omitted. */
export function linkTo(path: string, query: Readonly<Record<string, string>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** A number with its noun: `1 route`, `2 routes`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const units = [
  [24 * 3600, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** Formats a duration in its largest unit only: `3 min`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [size, unit] = units.find(([one]) => seconds >= one) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}
