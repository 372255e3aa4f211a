/** The report about annotations of ingress-nginx as data: its JSON and YAML form. See docs/cli.md, "report". */
import { formatRef, nameOf } from "@svc-gateway/operator/api/object.ts";
import { locateInFile } from "@svc-gateway/operator/sources/files/locate-in-file.ts";
import type { Place } from "@svc-gateway/operator/sources/files/place.ts";
import { keyField } from "@svc-gateway/operator/translate/diagnostics/define-finding.ts";
import type { Outcome } from "@svc-gateway/operator/translate/ingress-nginx/report.ts";
import { unreadIngresses, type UnreadIngress } from "../text/unread-ingresses.ts";
import { placesOf, type TranslatedFolder } from "../translate-folder.ts";

/** One annotation of one Ingress. */
export type AnnotationRow = Partial<Place> & {
  /** `namespace/name` of the Ingress. */
  readonly ingress: string;
  readonly annotation: string;
  readonly outcome: Outcome;
  /** The difference, the reason for having no effect, or the consequence of the refusal; empty for `served`. */
  readonly text: string;
  /** Set if the annotation is refused and `--accept` names it. */
  readonly accepted?: true;
};

export type AnnotationReport = {
  /** The annotations, in the order of files and of the text. */
  readonly annotations: readonly AnnotationRow[];
  /** The Ingresses without a report, because they are not valid. */
  readonly unread: readonly UnreadIngress[];
  /** The numbers of annotations by outcome; `ingresses` counts those in the dialect of ingress-nginx. */
  readonly summary: Readonly<Record<Outcome | "ingresses" | "annotations" | "accepted", number>>;
};

/** The outcomes, from the best to the worst. */
export const outcomes: readonly Outcome[] = ["served", "no-effect", "differently", "refused"];

/** Lists the annotations with their outcomes; `accepted` are names without prefix. */
export async function createAnnotationReport(
  folder: TranslatedFolder,
  accepted: readonly string[],
): Promise<AnnotationReport> {
  const { translation, read } = folder;
  const places = placesOf(folder);
  const isAccepted = (key: string): boolean => accepted.includes(key.slice(key.indexOf("/") + 1));
  const rows: AnnotationRow[] = [];
  for (const { object, verdicts } of translation.nginxReports) {
    const found = await locate(verdicts, places.get(formatRef(object)), read);
    for (const [index, { key, outcome, text }] of verdicts.entries()) {
      rows.push({
        ...found[index],
        ingress: nameOf(object),
        annotation: key,
        outcome,
        text,
        ...(outcome === "refused" && isAccepted(key) && { accepted: true as const }),
      });
    }
  }
  const annotations = rows.toSorted(inOrder);
  const count = (outcome: Outcome): number => rows.filter((row) => row.outcome === outcome).length;
  return {
    annotations,
    unread: unreadIngresses(folder.state),
    summary: {
      ingresses: translation.nginxReports.length,
      annotations: rows.length,
      served: count("served"),
      "no-effect": count("no-effect"),
      differently: count("differently"),
      refused: count("refused"),
      accepted: rows.filter((row) => row.accepted === true).length,
    },
  };
}

/** Whether every Ingress is read, and nothing is refused that is not accepted. */
export const isAcceptable = ({ unread, summary }: AnnotationReport): boolean =>
  unread.length === 0 && summary.refused === summary.accepted;

async function locate(
  verdicts: readonly { readonly key: string }[],
  place: Place | undefined,
  read: TranslatedFolder["read"],
): Promise<readonly (Place | undefined)[]> {
  if (place === undefined) return [];
  const fields = verdicts.map(({ key }) => keyField("metadata.annotations", key));
  const found = await locateInFile(place, fields, read);
  return fields.map((field) => found.get(field));
}

const inOrder = (a: AnnotationRow, b: AnnotationRow): number => {
  const [left = "", right = ""] = [a.file, b.file];
  if (left !== right) return left < right ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
};
