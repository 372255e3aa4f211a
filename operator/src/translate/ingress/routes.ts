/** The routes of all Ingresses and of the settings, kept up to date with the World. */
import { hasChanges, noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf } from "../../api/object.ts";
import type { World } from "../../world.ts";
import { ageOf, compareAges, compareText } from "../age.ts";
import { mergeEndpointRefs, isSameEndpointRef, type EndpointRef } from "../backends/service-port.ts";
import type { KeySetRef } from "../credentials/remote-key-sets.ts";
import type { Conflict } from "../finding.ts";
import { createFindings, type FindingsList } from "../incremental/findings-list.ts";
import { changesOf, createGroups, createKeyedList } from "../incremental/groups.ts";
import { memo } from "../incremental/memo.ts";
import { createTracker } from "../incremental/tracker.ts";
import { planNginxIngress } from "../ingress-nginx/plan.ts";
import type { NginxReport } from "../ingress-nginx/report.ts";
import type { TranslateSettings } from "../settings.ts";
import { createFitting } from "../size/fitting.ts";
import type { SizeLedger } from "../size/ledger.ts";
import { sharedScope, sizeKey, type LeftOut, type ObjectSize } from "../size/object-size.ts";
import type { Canaries } from "./canaries.ts";
import type { CanaryClaim } from "./canary.ts";
import type { HostClaim } from "./claims.ts";
import type { Classification } from "./classes.ts";
import { buildHostTable, type HostTable } from "./host-table.ts";
import { anyHost } from "./host.ts";
import { leaveOut } from "./left-out.ts";
import { planIngress, type IngressPlan } from "./plan.ts";

/** `diagnostics` and `events` are those of the Ingresses themselves. */
export type RoutesPart = FindingsList & {
  /** The findings about hosts. */
  readonly ofHosts: FindingsList;
  /** The Ingresses that this controller serves. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  /** Served Ingresses whose status is written. That of an adopted class can be left to another controller. */
  readonly statusIngresses: readonly ObjectOf<"Ingress">[];
  /** Sorted by host. */
  readonly tables: readonly HostTable[];
  readonly conflicts: readonly Conflict[];
  /** The resources that routes refer to besides endpoint sets. */
  readonly resources: readonly Resource[];
  /** The Service ports that routes name. */
  readonly endpointRefs: readonly EndpointRef[];
  /** The key sets that routes name. */
  readonly keySets: readonly KeySetRef[];
  /** The outcomes of annotations of ingress-nginx. */
  readonly nginxReports: readonly NginxReport[];
  /** The canaries of each host. */
  readonly canaries: Canaries;
};

/** The contribution of one Ingress, or of the settings, which have no `ingress`. */
type Contribution = IngressPlan & {
  readonly ingress: ObjectOf<"Ingress"> | undefined;
  readonly isOurs: boolean;
  /** Whether its status is written. */
  readonly hasStatus: boolean;
  readonly size: ObjectSize | undefined;
};

const keyOf = ({ ingress }: Pick<Contribution, "ingress">): string =>
  ingress === undefined ? "" : nameOf(ingress.metadata);

/**
 * Keeps the routes up to date with the World. `lastResort` is ordered after all others on every host. The
 * result is the same value until something in it changes.
 */
export function createRouteTracker(
  { allowExternalName, ingressHttpsPublicPort: httpsPublicPort, ingressNginx }: TranslateSettings,
  listeners: readonly Listener[],
  lastResort: Route | undefined,
  ledger: SizeLedger,
): (
  world: World,
  classify: (ingress: ObjectOf<"Ingress">) => Classification,
) => (leftOut: LeftOut) => RoutesPart {
  const ports = listeners.map(({ port }) => port);
  const track = createTracker({
    inputs: ({ Ingress }) => Ingress,
    compute: (ingress, { ours: info, diagnostics }: Classification, view): Contribution => {
      if (info === undefined)
        return { ...nothing, diagnostics, ingress, isOurs: false, hasStatus: false, size: undefined };
      const context = { info, view, allowExternalName, httpsPublicPort, lastResort, ports: ports.length };
      const plan =
        info.nginx === undefined
          ? planIngress(ingress, context)
          : planNginxIngress(ingress, info.nginx, context);
      const hasStatus = info.isAdopted !== true || ingressNginx.updateStatus;
      return { ...plan, ingress, isOurs: true, hasStatus, size: sizeOf(ingress, plan) };
    },
  });
  const ingresses = createKeyedList(({ metadata }: ObjectOf<"Ingress">) => nameOf(metadata));
  const withStatus = createKeyedList(({ metadata }: ObjectOf<"Ingress">) => nameOf(metadata));
  const tables = createGroups(
    ({ host }: HostClaim) => host.host,
    (claims) => buildHostTable(claims, { ports, lastResort }),
  );
  const resources = createGroups(
    ({ key }: Resource) => key,
    ([first]) => first,
  );
  const endpointRefs = createGroups(({ name }: EndpointRef) => name, mergeEndpointRefs, isSameEndpointRef);
  const keySets = createGroups(
    ({ name }: KeySetRef) => name,
    ([first]) => first,
  );
  const disputed = createKeyedList(({ served }: HostTable) => served.host.host);
  const conflictsOf = memo((all: readonly HostTable[]) => all.flatMap(({ conflicts }) => conflicts));
  const canaries = createGroups(
    ({ host }: CanaryClaim) => host.host,
    (claims): readonly CanaryClaim[] =>
      claims.toSorted((a, b) => compareAges(a.age, b.age) || compareText(a.field, b.field)),
  );
  const reports = createKeyedList(({ object }: NginxReport) => nameOf(object));
  const findings = createFindings<Contribution>(keyOf);
  const hostFindings = createFindings(({ served }: HostTable) => served.host.host);

  const edit = (changes: Changes<Contribution>): void => {
    ingresses.edit(changesOf(changes, oursOf));
    withStatus.edit(changesOf(changes, withStatusOf));
    resources.edit(changesOf(changes, (one) => one.resources));
    endpointRefs.edit(changesOf(changes, (one) => one.endpointRefs));
    keySets.edit(changesOf(changes, (one) => one.keySets));
    canaries.edit(changesOf(changes, (one) => one.canaries ?? noCanaries));
    reports.edit(changesOf(changes, ({ nginx }) => (nginx === undefined ? noReports : [nginx])));
    findings.edit(changes);
    const changed = tables.edit(changesOf(changes, ({ claims }) => claims));
    disputed.edit(changesOf(changed, (table) => (table.conflicts.length > 0 ? [table] : [])));
    hostFindings.edit(changed);
  };
  edit({ removed: [], added: lastResort === undefined ? [] : [{ ...nothing, ...catchAll }] });

  const fit = createFitting<Contribution>({
    keyOf: ({ size }) => size && sizeKey(size.object),
    fit: leaveOut,
  });
  const build = (changes: Changes<Contribution>): RoutesPart => {
    edit(changes);
    return {
      ingresses: ingresses.entries.values,
      statusIngresses: withStatus.entries.values,
      tables: tables.entries.values,
      conflicts: conflictsOf(disputed.entries.values),
      resources: resources.entries.values,
      endpointRefs: endpointRefs.entries.values,
      keySets: keySets.entries.values,
      nginxReports: reports.entries.values,
      canaries: canaries.entries,
      ...findings.list,
      ofHosts: hostFindings.list,
    };
  };

  let last: RoutesPart | undefined;
  return (world, classify) => {
    let planned = track(world, classify);
    ledger.edit(changesOf(planned, sizesOf));
    return (leftOut) => {
      const changes = fit(planned, leftOut);
      planned = noChanges;
      if (last === undefined || hasChanges(changes)) last = build(changes);
      return last;
    };
  };
}

const sizesOf = ({ size }: Contribution): readonly ObjectSize[] => (size === undefined ? noSizes : [size]);

const noSizes: readonly ObjectSize[] = [];

const sizeOf = (ingress: ObjectOf<"Ingress">, { bytes, isTooLarge }: IngressPlan): ObjectSize => ({
  object: refOf(ingress),
  age: ageOf(ingress),
  scopes: [{ scope: sharedScope, bytes }],
  isTooLarge,
});

const nothing: IngressPlan = {
  claims: [],
  endpointRefs: [],
  diagnostics: [],
  events: [],
  resources: [],
  keySets: [],
  bytes: [0, 0, 0],
  isTooLarge: false,
};

const noReports: readonly NginxReport[] = [];
const noCanaries: readonly CanaryClaim[] = [];

const noIngress: readonly ObjectOf<"Ingress">[] = [];

const oursOf = ({ ingress, isOurs }: Contribution): readonly ObjectOf<"Ingress">[] =>
  isOurs && ingress !== undefined ? [ingress] : noIngress;

const withStatusOf = ({ ingress, hasStatus }: Contribution): readonly ObjectOf<"Ingress">[] =>
  hasStatus && ingress !== undefined ? [ingress] : noIngress;

/** Claims the catch-all host without any path, to provide a place for the backend of last resort. */
const catchAll: Pick<Contribution, "claims" | "ingress" | "isOurs" | "hasStatus" | "size"> = {
  ingress: undefined,
  size: undefined,
  isOurs: false,
  hasStatus: false,
  claims: [
    {
      host: anyHost,
      owner: { kind: "Service", name: "" },
      age: { createdMs: Number.POSITIVE_INFINITY, key: "" },
      routes: [],
      pathLevel: undefined,
      fallback: undefined,
    },
  ],
};
