import { randomBytes } from "node:crypto";
import { hostPortsOf } from "@svc-gateway/common/admin/local-ports.ts";
import { ownPortsKey } from "@svc-gateway/common/ir/keys.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import type { OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { createFallbackSecret } from "@svc-gateway/operator/keys/fallback-certificate.ts";
import { sessionKeyBytes } from "@svc-gateway/common/ir/session-key.ts";
import { localPortOf } from "@svc-gateway/common/settings/ports.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { standaloneMetrics } from "@svc-gateway/common/telemetry/standalone-metrics.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { formatRef, type ObjectRef } from "@svc-gateway/operator/api/object.ts";
import { createCertificateKeeper } from "@svc-gateway/operator/build/certificate-keeper.ts";
import { countUnprotected } from "@svc-gateway/operator/build/table-builder.ts";
import type { KeySetKeeper } from "@svc-gateway/operator/jwks/key-set-keeper.ts";
import {
  nextTicketSecretMs,
  ticketKeysOf,
  withNewTicketSecret,
  type TicketSecret,
} from "@svc-gateway/operator/keys/ticket-secrets.ts";
import type { FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import type { Place } from "@svc-gateway/operator/sources/files/place.ts";
import { translate } from "@svc-gateway/operator/translate/translate.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { findUnusablePorts } from "@svc-gateway/proxy/listeners/free-ports.ts";
import type { Supervisor } from "@svc-gateway/proxy/worker/supervisor.ts";
import { standaloneTranslateSettings } from "../translate-settings.ts";
import type { ConsoleBuild } from "../console/console-source.ts";
import { createFindingsLog } from "./findings-log.ts";
import type { StandaloneHealth } from "./standalone-health.ts";
import { createPublisher } from "./publisher.ts";

export type BuildOptions = {
  /** The settings, with the actual admin, health and console ports of the process. */
  readonly settings: StandaloneSettings;
  readonly proxy: Pick<Supervisor, "apply">;
  readonly health: StandaloneHealth;
  /** Fetches the key sets that verify tokens. */
  readonly keySets: Pick<KeySetKeeper, "fetched" | "want">;
  /** Called with each build that is served, and the version of its snapshot; undefined if that did not change. */
  readonly onServed: (build: ConsoleBuild, version: string | undefined) => void;
  /** Called with a sentence for each listener of the first table whose port is unavailable; nothing is served then. */
  readonly onUnusablePorts: (sentences: readonly string[]) => void;
  readonly metrics: MetricSet<Pick<typeof standaloneMetrics, "keptCertificates" | "unprotectedPaths">>;
  readonly log: Logger;
};

/** Creates the build function: it translates the state of the folder, serves the result, and reports its findings. */
export function createBuild(options: BuildOptions): (state: FolderState) => Promise<void> {
  const { settings, proxy, health, keySets, log } = options;
  const translateSettings = standaloneTranslateSettings(settings);
  const ownPorts: OwnPorts = { addresses: hostPortsOf(settings) };
  // Sessions survive a restart only if the folder contains a key (docs/features/backend-policy.md).
  const sessionKey = randomBytes(sessionKeyBytes).toString("base64");
  const fallback = createFallbackSecret(translateSettings.installNamespace, Date.now());
  const findings = createFindingsLog(log);
  const certificates = createCertificateKeeper();
  const publisher = createPublisher((update) => proxy.apply(update));
  /** The secrets of session tickets, in memory: sessions survive changes of the folder, but not a restart. */
  let ticketSecrets: readonly TicketSecret[] = [];
  let isFirst = true;
  return async (state) => {
    const { world, objects, problems } = state;
    const startedMs = performance.now();
    const nowMs = Date.now();
    const fallbackCertificate = await fallback;
    const translation = translate(certificates.keep(world, nowMs), translateSettings, {
      nowMs,
      keySets: keySets.fetched,
      ownPorts,
      sessionKey,
      fallbackCertificate,
    });
    keySets.want(translation.wantedKeySets);
    if (nextTicketSecretMs(ticketSecrets) <= nowMs) ticketSecrets = withNewTicketSecret(ticketSecrets, nowMs);
    const translateMs = performance.now() - startedMs;
    findings.report(problems, translation.diagnostics, placesOf(objects));
    health.sourceRead(!problems.some(({ file }) => file === settings.manifests));
    const listeners = listenersOf(translation);
    if (isFirst) {
      const unusable = await findUnusablePorts({
        listeners,
        localPort: (port) => localPortOf(settings.portMap, port),
        address: settings.proxyBindAddress,
      });
      if (unusable.length > 0) {
        return options.onUnusablePorts(
          unusable.map(({ listenerPort, why }) => `listener ${listenerPort} cannot be served: ${why}`),
        );
      }
      isFirst = false;
    }
    const applied = await publisher.publish([
      ...translation.scopes.shared,
      ticketKeysOf(ticketSecrets, "standalone"),
      encodeResource(ownPortsKey, translation.ownPorts),
    ]);
    if (applied?.ok === true) {
      const { version, changes } = applied.value;
      const totalMs = performance.now() - startedMs;
      log.info(
        {
          event: "snapshot_published",
          version,
          changes,
          translate_ms: round(translateMs),
          total_ms: round(totalMs),
        },
        "snapshot published",
      );
    }
    if (applied?.ok === false) return;
    health.tableServed(portsOf(listeners));
    options.metrics.keptCertificates.with({}).set(certificates.count);
    options.metrics.unprotectedPaths.with({}).set(countUnprotected(translation.nginxReports));
    options.onServed({ state, translation, builtMs: nowMs }, applied?.value.version);
  };
}

/** The places of manifests, indexed on first use. */
function placesOf(objects: FolderState["objects"]): (object: ObjectRef) => Place | undefined {
  let places: ReadonlyMap<string, Place> | undefined;
  return (object) => {
    places ??= new Map([...objects.values()].map(({ ref, place }) => [formatRef(ref), place]));
    return places.get(formatRef(object));
  };
}

/** The listeners of the folder. */
function listenersOf({ scopes }: Translation): readonly Listener[] {
  return scopes.shared.flatMap((resource) => {
    const decoded = resource.key.startsWith("listener|") ? decodeResource(resource) : undefined;
    return decoded?.ok === true && decoded.value?.type === "listener" ? decoded.value.value.listeners : [];
  });
}

const portsOf = (listeners: readonly Listener[]): readonly number[] =>
  [...new Set(listeners.map(({ port }) => port))].sort((a, b) => a - b);

const round = (ms: number): number => Math.round(ms * 10) / 10;
