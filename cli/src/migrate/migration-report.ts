/** The report about each setting, as data, which is also its JSON form. See docs/cli.md, "migrate". */
import { formatRef, nameOf } from "@svc-gateway/operator/api/object.ts";
import { locateInFile } from "@svc-gateway/operator/sources/files/locate-in-file.ts";
import { formatPlace, type Place } from "@svc-gateway/operator/sources/files/place.ts";
import { keyField } from "@svc-gateway/operator/translate/diagnostics/define-finding.ts";
import type { Verdict } from "@svc-gateway/operator/translate/ingress-nginx/report.ts";
import { placesOf, type ReadFolder } from "../translate-folder.ts";
import { unreadIngresses, type UnreadIngress } from "../text/unread-ingresses.ts";
import type { MigratedIngress, Migration } from "./migrate.ts";
import { originsOf } from "./origins.ts";

export type MigrationOutcome = "same" | "changed" | "lost";

/** One annotation of one Ingress, or a default that applied to it. */
export type MigrationRow = Partial<Place> & {
  /** `namespace/name` of the Ingress. */
  readonly ingress: string;
  /** The annotation, or for a default the setting without a prefix. */
  readonly setting: string;
  readonly isDefault?: true;
  readonly outcome: MigrationOutcome;
  /** The behaviour afterwards, or why the setting is lost; empty for `same`. */
  readonly texts: readonly string[];
  /** Set if the setting is lost and `--accept` names it. */
  readonly accepted?: true;
};

export type MigrationReport = {
  /** The rows in the order of files and of the text; defaults of an Ingress follow its annotations. */
  readonly rows: readonly MigrationRow[];
  /** The Ingresses that are not migrated and stay as written, because they are not valid. */
  readonly unread: readonly UnreadIngress[];
  /** The steps to be done before the manifests are applied, as commands and sentences. */
  readonly todo: readonly string[];
  readonly summary: Readonly<Record<MigrationOutcome | "ingresses" | "accepted", number>>;
};

/** The name without prefix, in the form that `--accept` expects. */
const shortName = (key: string): string => key.slice(key.indexOf("/") + 1);

export async function createMigrationReport(
  folder: ReadFolder,
  { ingresses, todo }: Migration,
  accepted: readonly string[],
): Promise<MigrationReport> {
  const { read } = folder;
  const places = placesOf(folder);
  const located = new Map<string, ReadonlyMap<string, Place>>();
  for (const { report } of ingresses) {
    const place = places.get(formatRef(report.object));
    const fields = report.verdicts.map(({ key }) => fieldOf(key));
    if (place) located.set(nameOf(report.object), await locateInFile(place, fields, read));
  }
  /** The place of the deciding setting in another Ingress. */
  const decidingPlace: PlaceOf = (ingress, names) => {
    const verdicts = ingresses.find(({ report }) => nameOf(report.object) === ingress)?.report.verdicts ?? [];
    const key = names.flatMap((name) => verdicts.filter((one) => shortName(one.key) === name))[0]?.key;
    return key === undefined ? undefined : located.get(ingress)?.get(fieldOf(key));
  };
  const rows = ingresses.flatMap((one) => {
    const place = places.get(formatRef(one.report.object));
    return rowsOf(one, decidingPlace).map((row): MigrationRow => {
      const where =
        row.isDefault === true ? place : located.get(nameOf(one.report.object))?.get(fieldOf(row.setting));
      const isAccepted = row.outcome === "lost" && accepted.includes(shortName(row.setting));
      return { ...where, ...row, ...(isAccepted && { accepted: true as const }) };
    });
  });
  const count = (outcome: MigrationOutcome): number => rows.filter((row) => row.outcome === outcome).length;
  return {
    rows,
    unread: unreadIngresses(folder.state),
    todo,
    summary: {
      ingresses: ingresses.length,
      same: count("same"),
      changed: count("changed"),
      lost: count("lost"),
      accepted: rows.filter((row) => row.accepted === true).length,
    },
  };
}

const fieldOf = (key: string): string => keyField("metadata.annotations", key);

/** Returns the place of the first of these settings (names without prefix) that an Ingress has. */
type PlaceOf = (ingress: string, names: readonly string[]) => Place | undefined;

/** Whether every Ingress is read, and nothing is lost that is not accepted. */
export const isAcceptable = ({ unread, summary }: MigrationReport): boolean =>
  unread.length === 0 && summary.lost === summary.accepted;

/** The rows of an Ingress: its annotations in order, then the defaults that differ. */
function rowsOf(
  { report, differences, isLostCanary }: MigratedIngress,
  placeOf: PlaceOf,
): readonly MigrationRow[] {
  const ingress = nameOf(report.object);
  const names = new Set(report.verdicts.map(({ key }) => shortName(key)));
  const ofSetting = new Map<string, (typeof differences)[number][]>();
  for (const difference of differences) {
    const origins = originsOf(difference.property);
    const set = origins.filter((name) => names.has(name));
    // The loss of a whole feature is attributed to all its settings, that of a part to the first possible one.
    const isWhole = /^(?:(?:features\.|host\.)?[^.]+|backends\[\d+\]\.tls)$/.test(difference.property);
    for (const name of set.length === 0 ? origins.slice(0, 1) : isWhole ? set : set.slice(0, 1)) {
      ofSetting.set(name, [...(ofSetting.get(name) ?? []), difference]);
    }
  }
  const outcomeOf = (found: typeof differences): MigrationOutcome => {
    if (found.length === 0) return "same";
    return found.some(({ loss }) => loss === "lost") ? "lost" : "changed";
  };
  const worse = (a: MigrationOutcome, b: MigrationOutcome): MigrationOutcome =>
    order.indexOf(a) > order.indexOf(b) ? a : b;
  const textOf = ({ text, decidedBy, property }: (typeof differences)[number]): string => {
    const place = decidedBy === undefined ? undefined : placeOf(decidedBy, originsOf(property));
    return place === undefined ? text : `${text} (${formatPlace(place)})`;
  };
  const textsOf = (found: typeof differences): readonly string[] => [
    ...new Set(found.toSorted((a, b) => order.indexOf(b.loss) - order.indexOf(a.loss)).map(textOf)),
  ];
  const ofAnnotations = report.verdicts.map((verdict): MigrationRow => {
    const name = shortName(verdict.key);
    const found = ofSetting.get(name) ?? [];
    const before = outcomeBefore(verdict, isLostCanary);
    return {
      ingress,
      setting: verdict.key,
      outcome: worse(before.outcome, outcomeOf(found)),
      texts: [...before.texts, ...textsOf(found)],
    };
  });
  const ofDefaults = [...ofSetting].flatMap(([name, found]): MigrationRow[] =>
    names.has(name)
      ? []
      : [{ ingress, setting: name, isDefault: true, outcome: outcomeOf(found), texts: textsOf(found) }],
  );
  return [...ofAnnotations, ...ofDefaults];
}

const order: readonly MigrationOutcome[] = ["same", "changed", "lost"];

/** The outcome of an annotation before the migration: what was not served before is not written either. */
function outcomeBefore(
  { outcome, text }: Verdict,
  isLostCanary: boolean,
): { readonly outcome: MigrationOutcome; readonly texts: readonly string[] } {
  if (isLostCanary)
    return {
      outcome: "lost",
      texts: ["The canary is not written: no Ingress of the manifests serves its host, path and path type"],
    };
  if (outcome === "refused") return { outcome: "lost", texts: [text] };
  if (outcome === "differently") return { outcome: "changed", texts: [text] };
  return { outcome: "same", texts: text === "" ? [] : [text] };
}
