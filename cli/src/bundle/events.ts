/** Reads the Events about objects of the gateway and about its pods. */
import type { ReadOnlyClient } from "../live/connect.ts";
import { gapOf, type Gap } from "./entry.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

type KubeEvent = {
  readonly metadata: { readonly namespace?: string; readonly creationTimestamp?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly action?: string;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly eventTime?: string | null;
  readonly regarding?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
};
type Page = { readonly items?: readonly KubeEvent[]; readonly metadata?: { readonly continue?: string } };

const pageSize = 500;
/** The maximum number of pages to read. API servers keep Events for an hour by default. */
const maxPages = 20;
const maxEvents = 2000;

export type EventsQuery = {
  /** The namespaces to read; undefined for all of them. */
  readonly namespaces: readonly string[] | undefined;
  /** The namespace of the installation, of which all Events are returned. */
  readonly ownNamespace: string;
  /** Selects Events in other namespaces by the object that they are about. */
  readonly isOfGateway: (kind: string, namespace: string, name: string) => boolean;
};

/** Returns the latest Events of interest, newest first, and what could not be read. */
export async function readEvents(
  client: ReadOnlyClient,
  { namespaces, ownNamespace, isOfGateway }: EventsQuery,
  withheld: WithheldTexts,
): Promise<{ readonly events: readonly object[]; readonly gaps: readonly Gap[] }> {
  const scopes = namespaces === undefined ? [""] : [...new Set([ownNamespace, ...namespaces])];
  const found: KubeEvent[] = [];
  const gaps: Gap[] = [];
  for (const scope of scopes) {
    const within = scope === "" ? "" : `namespaces/${scope}/`;
    let next = "";
    for (let page = 0; page < maxPages; page++) {
      const listed = await client.call<Page>(`/apis/events.k8s.io/v1/${within}events`, {
        query: { limit: pageSize, ...(next !== "" && { continue: next }) },
      });
      if (!listed.ok) {
        const where = scope === "" ? "Events" : `Events of namespace ${scope}`;
        gaps.push(gapOf(where, listed.error, "list them"));
        break;
      }
      for (const event of listed.value.items ?? []) {
        const { kind = "", namespace = "", name = "" } = event.regarding ?? {};
        if (namespace === ownNamespace || isOfGateway(kind, namespace, name)) found.push(event);
      }
      next = listed.value.metadata?.continue ?? "";
      if (next === "") break;
      if (page === maxPages - 1)
        gaps.push({ what: "further Events", why: `at most ${maxPages * pageSize} are read` });
    }
  }
  const newest = found.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  if (newest.length > maxEvents)
    gaps.push({ what: "older Events", why: `the newest ${maxEvents} are written` });
  return { events: newest.slice(0, maxEvents).map((event) => describe(event, withheld)), gaps };
}

const timeOf = ({ series, eventTime, metadata }: KubeEvent): string =>
  series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp ?? "";

const describe = (event: KubeEvent, withheld: WithheldTexts): object => ({
  time: timeOf(event),
  type: event.type,
  reason: event.reason,
  regarding: {
    kind: event.regarding?.kind,
    namespace: event.regarding?.namespace,
    name: event.regarding?.name,
  },
  note: withheld.clean(event.note ?? ""),
  count: event.series?.count,
  reportingController: event.reportingController,
  reportingInstance: event.reportingInstance,
});
