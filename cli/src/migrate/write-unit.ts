/** Writes one path as annotations of this gateway. */
import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { ClientPlans } from "./client-certificates.ts";
import { featureWriters } from "./features/index.ts";
import type { ServedUnit } from "./served-units.ts";
import type { ServicePlans } from "./service-plans.ts";
import type { FeatureWriter, Note, WriterContext, Written } from "./written.ts";

/** The annotation that answers every request for the path with 403. */
const closed = { "closed-paths": "/" };

/** The plans that concern more than one path. */
export type UnitPlans = {
  readonly services: ServicePlans;
  readonly clients: Pick<ClientPlans, "notesOf">;
  /** The annotations about the clients of an Ingress (`namespace/name`). */
  readonly clientAnnotationsOf: (ingress: string) => Readonly<Record<string, string>>;
};

/** Writes the annotations of a path, with notes on what they do not express. */
export function writeUnit(
  unit: ServedUnit,
  { services, clients, clientAnnotationsOf }: UnitPlans,
  define: WriterContext["define"],
): Required<Written> {
  const [namespace = ""] = unit.ingress.split("/");
  const context: WriterContext = { namespace, route: unit.route, define };
  const parts = Object.entries(unit.route.features ?? {}).flatMap(([slug, value]) =>
    value === undefined ? [] : [writeFeature(slug as FeatureSlug, value, context)],
  );
  const notes = [
    ...parts.flatMap((part) => part.notes ?? []),
    ...services.write(unit, define),
    ...clients.notesOf(unit),
  ];
  const closing = [...notes.filter((note) => note.closes), ...closedNotes(unit)];
  return {
    annotations: {
      ...(unit.route.match.path.type === "regex" && { "use-regex": "true" }),
      ...join(parts),
      ...clientAnnotationsOf(unit.ingress),
      ...(closing.length > 0 && closed),
    },
    notes: [
      ...notes,
      ...closedNotes(unit),
      ...closing.slice(0, 1).map((note): Note => ({
        property: "features.closed-paths",
        loss: note.loss,
        text: note.text,
        of: note.property,
      })),
    ],
  };
}

/** Joins the annotations of all parts; lists of header fields that several parts set become one list. */
function join(parts: readonly Written[]): Readonly<Record<string, string>> {
  const joined: Record<string, string> = {};
  for (const [name, value] of parts.flatMap(({ annotations = {} }) => Object.entries(annotations))) {
    const before = joined[name];
    joined[name] = before !== undefined && name.endsWith("-header-set") ? `${before}\n${value}` : value;
  }
  return joined;
}

/** Writes the value of a feature by the writer of its slug. */
const writeFeature = <S extends FeatureSlug>(
  slug: S,
  value: NonNullable<RouteFeatures[S]>,
  context: WriterContext,
): Written => (featureWriters[slug] as FeatureWriter<S>)(value, context);

/** The note that keeps a path closed if it is closed before, because its protection could not be loaded. */
const closedNotes = ({ route: { backends } }: ServedUnit): readonly Note[] =>
  backends.some(({ service, status }) => service === "" && status === 503)
    ? [
        {
          property: "backends",
          loss: "changed",
          text: "Every request is answered 403 instead of 503",
          closes: true,
        },
      ]
    : [];
