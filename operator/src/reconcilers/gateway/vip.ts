import { isDeepStrictEqual } from "node:util";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf } from "../../api/object.ts";
import type { Build } from "../../build/table-builder.ts";
import type { Fleet } from "../../discovery/fleet.ts";
import { type ApiClient, describeApiError } from "../../sources/kubernetes/api-client.ts";
import type { ProvisionedObjects } from "../../sources/kubernetes/provisioned-objects.ts";
import { componentLabel, gatewayNamespaceLabel, vipComponent } from "../../translate/gateway/names.ts";
import { mappingOf, vipsOf } from "../../translate/gateway/scopes/ports.ts";
import type { Vip, VipService } from "../../translate/gateway/scopes/vip-plan.ts";
import { memo } from "../../translate/incremental/memo.ts";
import { createLookup, objectsIn, type World } from "../../world.ts";
import { fieldManager } from "../../write/status-writer.ts";
import type { Reconciler } from "../reconciler.ts";
import type { Handover } from "./handover.ts";
import type { Notes } from "./notes.ts";
import { createPortClaims, endOf, type PortClaims } from "./port-claims.ts";
import { deleteForNewClusterIp } from "./service-address.ts";

type Service = ObjectOf<"Service">;

export type VipReconcilerOptions = {
  readonly client: ApiClient;
  /** The namespace of the Services. */
  readonly namespace: string;
  /** Whether Gateways of a namespace are served; the Services of others are not deleted. */
  readonly isServed: (namespace: string) => boolean;
  readonly handover: Pick<Handover, "isDone">;
  readonly fleet: Pick<Fleet, "subscribe">;
  readonly provisioned: Pick<ProvisionedObjects, "subscribe">;
  /** The API server's reason for refusing an address that a Gateway (`namespace/name`) requests. */
  readonly refusals: Pick<Notes<string>, "set">;
  /** Messages about Services that have another owner, by Gateway (`namespace/name`), for its status. */
  readonly taken: Pick<Notes<string>, "set">;
  readonly clock?: Pick<Clock, "nowMs" | "schedule">;
};

/**
 * The interval after which a differing Service is reconciled again, even if nothing has changed: an address may have
 * become free, or a Service with the same name may have been deleted.
 */
const resyncMs = 15_000;

/** A Service that differs from the desired state; `wanted` is undefined if it belongs to no Gateway. */
type Outstanding = { readonly wanted: Vip | undefined; readonly present: Service | undefined };

/**
 * Reconciles the Services of Gateways on the shared proxies: creates missing ones, restores changed ones and deletes
 * those without a Gateway (docs/gateway-api.md, "Shared proxies"). No two Services map to one internal port: a Service
 * waits while another one maps, or may soon map, to a port that its plan adds, until a build has observed that and plans
 * another port.
 */
export function vipReconciler(options: VipReconcilerOptions): Reconciler {
  const {
    client,
    namespace,
    isServed,
    handover,
    fleet,
    provisioned,
    refusals,
    taken,
    clock = monotonicClock,
  } = options;
  let outstanding: ReadonlyMap<string, Outstanding> = new Map();
  /** The newest build, which can be newer than the one that a reconciliation began with. */
  let newest: Build | undefined;
  let lookAt: (name: string) => void = () => {};
  /** The Gateways whose Service has another owner, by the Service's name. */
  const takenFrom = new Map<string, string>();
  const pathOf = (name: string): string => `/api/v1/namespaces/${namespace}/services/${name}`;

  /** The claims of each term of the leader. */
  const claimsIn = memo((_term: AbortSignal): PortClaims =>
    createPortClaims({
      client,
      namespace,
      clock,
      onReleased: (names) => names.forEach((name) => lookAt(name)),
    }),
  );

  /** Claims the internal ports of a Service; undefined if another one has one of those that are added. */
  const claim = (
    service: VipService,
    found: Service | undefined,
    world: World,
    signal: AbortSignal,
  ): ReturnType<PortClaims["claim"]> => {
    const { name } = service.metadata;
    const ports = service.spec.ports.map(({ targetPort }) => targetPort);
    const present = new Set(mappingOf(found).values());
    const added = ports.filter((port) => !present.has(port));
    const isTaken = added.length > 0 && usesOneOf(added, othersIn(world, namespace, name));
    return isTaken ? Promise.resolve(ok(undefined)) : claimsIn(signal).claim({ name, ports, added }, signal);
  };

  const remove = async (name: string, signal: AbortSignal): Promise<Result<string>> => {
    const found = await client.call<Service>(pathOf(name), { signal });
    if (!found.ok) return found.error.status === 404 ? ok("gone") : problem(describeApiError(found.error));
    if (!isOurs(found.value)) return ok("not ours");
    if (!isServed(gatewayNamespaceOf(found.value))) return ok("not served");
    const deleted = await client.call(pathOf(name), {
      method: "DELETE",
      body: { preconditions: { uid: found.value.metadata.uid } },
      signal,
    });
    return deleted.ok || deleted.error.status === 404
      ? ok("deleted")
      : problem(describeApiError(deleted.error));
  };

  const apply = async (
    { service, gateway }: Vip,
    world: World,
    signal: AbortSignal,
  ): Promise<Result<string>> => {
    const { name } = service.metadata;
    const found = await client.call<Service>(pathOf(name), { signal });
    if (!found.ok && found.error.status !== 404) return problem(describeApiError(found.error));
    const isTaken = found.ok && !isOurs(found.value);
    const message = `Service ${namespace}/${name} exists but was not created by this controller; it is left unchanged`;
    const owner = nameOf(refOf(gateway));
    taken.set(owner, isTaken ? message : undefined);
    if (isTaken) takenFrom.set(name, owner);
    else takenFrom.delete(name);
    if (isTaken) return problem(message);
    // The ports reported by the API server are authoritative: a table that was built without them is built again.
    const known = createLookup(world)("Service", namespace, name);
    if (found.ok && !isDeepStrictEqual(mappingOf(found.value), mappingOf(known))) return ok("waiting");
    const present = found.ok ? found.value : undefined;
    const claimed = await claim(service, present, newest?.world ?? world, signal);
    if (!claimed.ok) return claimed;
    const { value: end } = claimed;
    if (end === undefined) return ok("waiting");
    const refused = await deleteForNewClusterIp(client, service, present, signal);
    if (!refused.ok || refused.value !== undefined) end("refused");
    if (!refused.ok) return refused;
    refusals.set(nameOf(refOf(gateway)), refused.value);
    // The status has the reason; another attempt would be rejected as well.
    if (refused.value !== undefined) return ok("refused");
    const applied = await client.call<Service>(pathOf(name), {
      method: "PATCH",
      patch: "apply",
      query: { fieldManager, force: true },
      body: service,
      signal,
    });
    end(applied.ok ? "stored" : endOf(applied.error));
    return applied.ok ? ok(found.ok ? "updated" : "created") : problem(describeApiError(applied.error));
  };

  const leave = (vip: Vip, { world, translation }: Build, signal: AbortSignal): Promise<Result<string>> => {
    const status = translation.gatewayStatuses.gateways.find(({ object }) => object === vip.gateway);
    if (status !== undefined && handover.isDone(status, world))
      return remove(vip.service.metadata.name, signal);
    const present = createLookup(world)("Service", namespace, vip.service.metadata.name);
    if (present !== undefined && isInLine(present, vip.service)) return Promise.resolve(ok("waiting"));
    return apply(vip, world, signal);
  };

  return {
    controller: "vip",
    dirty(previous, build) {
      newest = build;
      const known = previous === undefined ? new Map<string, Outstanding>() : outstanding;
      outstanding = outOfLine(build, namespace, isServed);
      return [...outstanding].flatMap(([name, one]) =>
        isLeaving(one) || !isSame(known.get(name), one) ? [name] : [],
      );
    },
    subscribe(look) {
      lookAt = look;
      const lookAtLeaving = (): void => {
        for (const [name, one] of outstanding) if (isLeaving(one)) look(name);
      };
      let cancelResync = (): void => {};
      const planResync = (): void => {
        cancelResync = clock.schedule(resyncMs, () => {
          planResync();
          for (const name of outstanding.keys()) look(name);
        });
      };
      planResync();
      const unsubscribe = [fleet.subscribe(lookAtLeaving), provisioned.subscribe(lookAtLeaving)];
      return () => {
        cancelResync();
        unsubscribe.forEach((end) => end());
      };
    },
    async reconcile(name, { build, signal }) {
      const vip = build.translation.vips.find(({ service }) => service.metadata.name === name);
      if (vip === undefined) {
        taken.set(takenFrom.get(name) ?? "", undefined);
        takenFrom.delete(name);
        return remove(name, signal);
      }
      if (vip.state === "held") return ok("held");
      return vip.state === "leaving" ? leave(vip, build, signal) : apply(vip, build.world, signal);
    },
  };
}

const isOurs = ({ metadata }: Service): boolean => metadata.labels?.[componentLabel] === vipComponent;

/** The namespace of the Gateway that a Service was created for; empty without the label. */
const gatewayNamespaceOf = ({ metadata }: Service): string => metadata.labels?.[gatewayNamespaceLabel] ?? "";

/**
 * Returns, by name, the Services that must be created, changed or deleted, or that wait for their Gateways to leave.
 */
function outOfLine(
  { world, translation }: Build,
  namespace: string,
  isServed: VipReconcilerOptions["isServed"],
): ReadonlyMap<string, Outstanding> {
  const lookup = createLookup(world);
  const found = new Map<string, Outstanding>();
  const wantedNames = new Set<string>();
  for (const wanted of translation.vips) {
    const { service, state } = wanted;
    const { name } = service.metadata;
    wantedNames.add(name);
    if (state === "held") continue;
    const present = lookup("Service", namespace, name);
    if (state === "leaving" || present === undefined || !isInLine(present, service)) {
      found.set(name, { wanted, present });
    }
  }
  for (const present of objectsIn(world, "Service", namespace)) {
    const { name } = present.metadata;
    if (!isOurs(present) || wantedNames.has(name) || !isServed(gatewayNamespaceOf(present))) continue;
    found.set(name, { wanted: undefined, present });
  }
  return found;
}

const isLeaving = ({ wanted }: Outstanding): boolean => wanted?.state === "leaving";

/** Whether another reconciliation would have the same result; failures are retried by the queue. */
const isSame = (before: Outstanding | undefined, now: Outstanding): boolean =>
  before !== undefined &&
  before.present === now.present &&
  before.wanted?.state === now.wanted?.state &&
  isDeepStrictEqual(before.wanted?.service, now.wanted?.service);

/** The Services of other Gateways. */
const othersIn = (world: World, namespace: string, name: string): readonly Service[] =>
  [...vipsOf(world, namespace)].flatMap(([other, vip]) => (other === name ? [] : [vip]));

const usesOneOf = (ports: readonly number[], vips: readonly Service[]): boolean => {
  const used = new Set(vips.flatMap((vip) => [...mappingOf(vip).values()]));
  return ports.some((port) => used.has(port));
};

/** Whether a Service has all desired values; additions of others are tolerated. */
const isInLine = (present: Service, wanted: VipService): boolean =>
  contains(present.metadata.labels, wanted.metadata.labels) &&
  contains(present.metadata.annotations, wanted.metadata.annotations) &&
  present.spec?.type === wanted.spec.type &&
  (wanted.spec.clusterIP === undefined || present.spec.clusterIP === wanted.spec.clusterIP) &&
  contains(present.spec.selector, wanted.spec.selector) &&
  Object.keys(present.spec.selector ?? {}).length === Object.keys(wanted.spec.selector).length &&
  present.spec.ports?.length === wanted.spec.ports.length &&
  wanted.spec.ports.every(({ port, targetPort, protocol }) =>
    present.spec?.ports?.some(
      (one) => one.port === port && one.targetPort === targetPort && (one.protocol ?? "TCP") === protocol,
    ),
  );

type Texts = { readonly [key: string]: string };

const contains = (present: Texts | undefined, wanted: Texts | undefined): boolean =>
  Object.entries(wanted ?? {}).every(([key, value]) => present?.[key] === value);
