/** The sources of the console: one for a controller, and one for a process in standalone mode. */
import type { HealthRegistry } from "@svc-gateway/common/admin/health.ts";
import type { ControllerSettings, StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { ControllerView } from "@svc-gateway/operator/control/controller.ts";
import { emptyFolder } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { version } from "../version.ts";
import type { ConsoleBuild, ConsoleProxy, ConsoleSource } from "./console-source.ts";

const timeOf = (ms: number | undefined): string =>
  ms === undefined ? "not yet" : `${new Date(ms).toISOString().slice(0, 19)}Z`;

export function controllerSource(
  settings: Pick<ControllerSettings, "podName" | "podNamespace" | "controllerName">,
  view: ControllerView,
  health: HealthRegistry,
): ConsoleSource {
  const startedMs = Date.now();
  let last: ReturnType<ControllerView["build"]>;
  let shown: ConsoleBuild | undefined;
  return {
    mode: "controller",
    version,
    portMap: [],
    health: () => health.document(),
    build() {
      const next = view.build();
      if (next !== last) {
        last = next;
        // Objects of a cluster have no place in a file.
        shown = next && {
          state: { ...emptyFolder, world: next.world },
          translation: next.translation,
          builtMs: next.builtMs,
        };
      }
      return shown;
    },
    proxies: () => view.proxies().map(proxyOf),
    facts: () => [
      ["Pod", `${settings.podNamespace}/${settings.podName}`],
      ["Controller name", settings.controllerName],
      ["Leader", view.isLeading() ? "this replica" : "another replica, or none"],
      ["Started", timeOf(startedMs)],
      ["Last build", timeOf(view.build()?.builtMs)],
    ],
  };
}

function proxyOf({ pod, node }: ReturnType<ControllerView["proxies"]>[number]): ConsoleProxy {
  return {
    name: pod.name,
    namespace: pod.namespace,
    scope: pod.gatewayRef ?? "shared",
    phase: pod.phase,
    node: pod.node ?? "",
    ...(node && {
      stream: {
        release: node.release ?? "",
        health: node.health ?? "starting",
        degradedChecks: node.degradedChecks,
        version: node.lastAckedVersion ?? "none",
        isInSync: node.isInSync,
        behindMs: node.behindMs,
      },
    }),
  };
}

export type StandaloneFacts = {
  readonly settings: Pick<StandaloneSettings, "manifests" | "portMap">;
  readonly health: HealthRegistry;
  readonly workers: number;
  readonly build: () => ConsoleBuild | undefined;
  /** The version of the current snapshot; undefined before the first one. */
  readonly snapshot: () => string | undefined;
  readonly metrics: () => Promise<string>;
};

export function standaloneSource(facts: StandaloneFacts): ConsoleSource {
  const { settings, health, workers, build, snapshot, metrics } = facts;
  const startedMs = Date.now();
  return {
    mode: "standalone",
    version,
    portMap: settings.portMap,
    health: () => health.document(),
    build,
    proxies: () => undefined,
    facts: () => [
      ["Manifests", settings.manifests],
      ["Workers", String(workers)],
      ["Snapshot", snapshot()?.slice(0, 12) ?? "not yet"],
      ["Started", timeOf(startedMs)],
      ["Last build", timeOf(build()?.builtMs)],
    ],
    traffic: metrics,
  };
}
