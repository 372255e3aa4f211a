import { isDeepStrictEqual } from "node:util";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { fieldManager } from "../../runtime/status-writer.ts";
import type { Build } from "../../runtime/table-builder.ts";
import type { ApiClient } from "../../sources/kubernetes/api-client.ts";
import { describeApiError } from "../../sources/kubernetes/api-error.ts";
import { componentLabel, vipComponent } from "../../translate/gateway/names.ts";
import { mappingOf } from "../../translate/gateway/ports.ts";
import type { VipService } from "../../translate/gateway/vip-plan.ts";
import { createLookup, objectsIn, type World } from "../../world.ts";
import type { Reconciler } from "../reconciler.ts";

type Service = ObjectOf<"Service">;

/**
 * Keeps the Services that lead to the Gateways of the shared proxies: creates what is missing, puts right what somebody
 * has changed, deletes what belongs to no Gateway any more (docs/gateway-api.md, "Shared proxies").
 */
export function vipReconciler(client: ApiClient, namespace: string): Reconciler {
  const pathOf = (name: string): string => `/api/v1/namespaces/${namespace}/services/${name}`;

  const remove = async (name: string, signal: AbortSignal): Promise<Result<string>> => {
    const found = await client.call<Service>(pathOf(name), { signal });
    if (!found.ok) return found.error.status === 404 ? ok("gone") : problem(describeApiError(found.error));
    if (!isOurs(found.value)) return ok("not ours");
    const deleted = await client.call(pathOf(name), {
      method: "DELETE",
      body: { preconditions: { uid: found.value.metadata.uid } },
      signal,
    });
    return deleted.ok || deleted.error.status === 404
      ? ok("deleted")
      : problem(describeApiError(deleted.error));
  };

  const apply = async (service: VipService, world: World, signal: AbortSignal): Promise<Result<string>> => {
    const { name } = service.metadata;
    const found = await client.call<Service>(pathOf(name), { signal });
    if (!found.ok && found.error.status !== 404) return problem(describeApiError(found.error));
    if (found.ok && !isOurs(found.value)) {
      return problem(
        `Service ${namespace}/${name} exists, but was not made by this controller; it is left alone`,
      );
    }
    // What the API server says about ports counts: a table that was built without knowing it will be built anew.
    const known = createLookup(world)("Service", namespace, name);
    if (found.ok && !isDeepStrictEqual(mappingOf(found.value), mappingOf(known))) return ok("waiting");
    const applied = await client.call<Service>(pathOf(name), {
      method: "PATCH",
      patch: "apply",
      query: { fieldManager, force: true },
      body: service,
      signal,
    });
    return applied.ok ? ok(found.ok ? "updated" : "created") : problem(describeApiError(applied.error));
  };

  return {
    controller: "vip",
    *dirty(_, { world, translation }) {
      const lookup = createLookup(world);
      const wanted = new Set<string>();
      for (const service of translation.vips) {
        const { name } = service.metadata;
        wanted.add(name);
        const present = lookup("Service", namespace, name);
        if (present === undefined || !isInLine(present, service)) yield name;
      }
      for (const name of vipsIn(world, namespace)) if (!wanted.has(name)) yield name;
    },
    async reconcile(name, { build, signal }) {
      const wanted = findWanted(build, name);
      return wanted === undefined ? remove(name, signal) : apply(wanted, build.world, signal);
    },
  };
}

const findWanted = ({ translation }: Build, name: string): VipService | undefined =>
  translation.vips.find(({ metadata }) => metadata.name === name);

const isOurs = ({ metadata }: Service): boolean => metadata.labels?.[componentLabel] === vipComponent;

const vipsIn = (world: World, namespace: string): readonly string[] =>
  [...objectsIn(world, "Service", namespace)].filter(isOurs).map(({ metadata }) => metadata.name);

/** Whether a Service has all that it should have; what others have added is theirs. */
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
