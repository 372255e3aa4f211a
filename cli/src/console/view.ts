import type { ConsoleBuild, ConsoleSource } from "./console-source.ts";
import type { Model } from "./model/model.ts";

/** The input of a page. */
export type View = {
  readonly source: ConsoleSource;
  readonly build: ConsoleBuild | undefined;
  readonly model: Model;
  readonly nowMs: number;
  /** The query of the page; of repeated parameters, the last one counts. */
  readonly query: URLSearchParams;
};

const maxQueryLength = 200;

/** A parameter of a page, trimmed and cut to the maximum length. */
export const textOf = ({ query }: Pick<View, "query">, name: string): string =>
  (query.getAll(name).at(-1) ?? "").trim().slice(0, maxQueryLength);

/** The page number of a list. */
export function pageOf({ query }: Pick<View, "query">): number {
  const text = query.getAll("page").at(-1) ?? "";
  return /^\d{1,6}$/.test(text) ? Number(text) : 1;
}

/** Creates a filter that reports whether texts contain every word of a query. */
export function createFilter(query: string): (...texts: readonly string[]) => boolean {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return (...texts) => {
    const text = texts.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
