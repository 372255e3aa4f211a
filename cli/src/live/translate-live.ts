/** Translates a live cluster in the same way as its controllers. See docs/cli.md, "A live cluster". */
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { assumedObjects, limitsWithoutClusterScope } from "@svc-gateway/operator/control/cluster-scope.ts";
import {
  clusterTranslateSettings,
  readNamespacesOf,
} from "@svc-gateway/operator/control/translate-settings.ts";
import { translate } from "@svc-gateway/operator/translate/translate.ts";
import { findShadowedRoutes } from "../check/shadowed-routes.ts";
import { findUnservedAuth } from "../check/unserved-auth.ts";
import { findUnusablePolicies } from "../check/unusable-policies.ts";
import { findUnserved } from "../check/unserved.ts";
import type { Io } from "../command.ts";
import type { TranslatedFolder } from "../translate-folder.ts";
import { connectCluster, type LiveCluster } from "./connect.ts";
import { findController, type LiveController } from "./controller.ts";
import type { ClusterChoice } from "./live-flags.ts";
import { readCluster, type LiveFolder } from "./read-cluster.ts";

export type TranslatedCluster = TranslatedFolder & {
  readonly controller: LiveController;
  readonly objects: LiveFolder["objects"];
  readonly statusOf: LiveFolder["statusOf"];
  /** One sentence for each assumption by which the translation differs from the cluster. */
  readonly notes: readonly string[];
};

export type TranslateLiveOptions = {
  /** Flags that replace those of the controllers, by name. */
  readonly given: ReadonlyMap<string, string>;
  readonly nowMs: number;
};

/** Reads and translates a cluster. Fails with one line for each thing that cannot be read. */
export async function translateLive(
  choice: ClusterChoice,
  options: TranslateLiveOptions,
  io: Pick<Io, "env">,
): Promise<Result<TranslatedCluster, readonly string[]>> {
  const connected = await connectCluster(choice, io);
  if (!connected.ok) return fail([connected.error.message]);
  const cluster = connected.value;
  try {
    const controller = await findController(cluster.client, choice.namespace, options.given);
    if (!controller.ok) return fail([controller.error.message]);
    return await translateCluster(cluster, controller.value, options.nowMs);
  } finally {
    await cluster.close();
  }
}

/** Reads and translates the objects that a controller serves. */
export async function translateCluster(
  cluster: LiveCluster,
  controller: LiveController,
  nowMs: number,
): Promise<Result<TranslatedCluster, readonly string[]>> {
  const { settings } = controller;
  const folder = await readCluster(cluster, {
    ...settings,
    namespaces: readNamespacesOf(settings),
    assumed: assumedObjects(settings),
    readsPlainSecrets: settings.ingressNginxClasses.length > 0,
    nowMs,
    signal: new AbortController().signal,
  });
  if (!folder.ok) return folder;
  const { state, read, kinds, objects, statusOf, notes } = folder.value;
  const installed = new Set(kinds.map(({ kind }) => kind));
  const translation = translate(state.world, clusterTranslateSettings(settings, installed), { nowMs });
  const diagnostics = [
    ...translation.diagnostics,
    ...findUnserved(state.world, translation, settings),
    ...findUnservedAuth(translation, settings),
    ...findUnusablePolicies(translation),
    ...findShadowedRoutes(translation),
  ];
  return ok({
    state,
    read,
    translation: { ...translation, diagnostics },
    isLive: true,
    controller,
    objects,
    statusOf,
    notes: [
      ...controller.notes,
      ...notes,
      ...(settings.disableClusterScope ? limitsWithoutClusterScope : []),
    ],
  });
}
