/** Explains the annotations of ingress-nginx on the Ingress from which a route comes. See docs/cli.md, "explain". */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import type { Outcome } from "@svc-gateway/operator/translate/ingress-nginx/report.ts";
import { outcomeWords } from "../report/report-text.ts";
import type { TranslatedFolder } from "../translate-folder.ts";

/** An annotation with its outcome, as in a row of `report`. */
export type ExplainedAnnotation = {
  readonly annotation: string;
  readonly outcome: Outcome;
  /** The difference, why there is nothing to do, or what happens instead; empty for `served`. */
  readonly text: string;
};

/** Returns the annotations of a source; undefined if it is not read in the dialect of ingress-nginx. */
export function explainAnnotations(
  source: Route["source"],
  { translation }: TranslatedFolder,
): readonly ExplainedAnnotation[] | undefined {
  const name = formatRef(source);
  const report = translation.nginxReports.find(({ object }) => formatRef(object) === name);
  return report?.verdicts.map(({ key, outcome, text }) => ({ annotation: key, outcome, text }));
}

/** One line for each annotation, followed by its text. */
export const describeAnnotations = (annotations: readonly ExplainedAnnotation[]): readonly string[] =>
  annotations.flatMap(({ annotation, outcome, text }) => [
    `${outcomeWords[outcome].padEnd(9)} ${annotation}`,
    ...(text === "" ? [] : [`  ${text}`]),
  ]);
