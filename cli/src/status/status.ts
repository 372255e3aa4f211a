/** The state of an installation as data: the JSON and YAML forms are this value, and the text is generated from it. */
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { createReport, type CheckReport } from "../check/report.ts";
import type { Io } from "../command.ts";
import { connectCluster, type LiveCluster } from "../live/connect.ts";
import { findController, type LiveController } from "../live/controller.ts";
import type { ClusterChoice } from "../live/live-flags.ts";
import { translateCluster, type TranslatedCluster } from "../live/translate-live.ts";
import { endingCertificates, type EndingCertificate } from "./certificates.ts";
import { readLeader, type LeaderStatus } from "./leader.ts";
import { error, warning, type StatusProblem } from "./problem.ts";
import { unprogrammed } from "./programmed.ts";
import { readProxies, type ProxiesStatus } from "./proxies.ts";

export type ClusterStatus = {
  readonly context: string;
  readonly server: string;
  readonly controllers: Pick<LiveController, "namespace" | "name" | "image" | "replicas"> &
    Omit<LeaderStatus, "problems">;
  readonly proxies?: ProxiesStatus["proxies"];
  readonly certificates: readonly Omit<EndingCertificate, "problem">[];
  /** The number of objects with each verdict (docs/cli.md, "check"). */
  readonly objects: CheckReport["summary"];
  readonly conflicts: CheckReport["conflicts"];
  /** All problems, errors first. */
  readonly problems: readonly StatusProblem[];
  /** One sentence for each object that could not be read, and for each assumption. */
  readonly notes: readonly string[];
};

export type StatusOptions = { readonly nowMs: number; readonly withinMs: number };

/** An installation that can be read. Callers must close its cluster. */
export type ReadableInstallation = { readonly cluster: LiveCluster; readonly controller: LiveController };

/** The state of an installation, and the translation from which it was computed. */
export type InstallationState = { readonly status: ClusterStatus; readonly translated: TranslatedCluster };

/** Finds an installation. Fails with one line for the user. */
export async function openInstallation(
  choice: ClusterChoice,
  io: Pick<Io, "env">,
): Promise<Result<ReadableInstallation, readonly string[]>> {
  const connected = await connectCluster(choice, io);
  if (!connected.ok) return fail([connected.error.message]);
  const cluster = connected.value;
  const controller = await findController(cluster.client, choice.namespace, new Map());
  if (controller.ok) return ok({ cluster, controller: controller.value });
  await cluster.close();
  return fail([controller.error.message]);
}

/** Reads the state of an installation. Fails with one line for each required object that cannot be read. */
export async function readStatus(
  { cluster, controller }: ReadableInstallation,
  { nowMs, withinMs }: StatusOptions,
): Promise<Result<InstallationState, readonly string[]>> {
  const { client, context, server } = cluster;
  const translated = await translateCluster(cluster, controller, nowMs);
  if (!translated.ok) return translated;
  const { state, translation, notes, statusOf } = translated.value;
  const leader = await readLeader(client, controller, nowMs);
  const proxies = await readProxies(client, controller, leader.leader);
  const certificates = endingCertificates(state.world, translation, { nowMs, withinMs });
  const report = await createReport(translated.value);
  const { namespace, name, image, replicas, settings } = controller;
  const { problems: ofLeader, unknown: whyNoLeader, ...leads } = leader;
  const unread = [
    whyNoLeader === undefined ? [] : [`The leader is not known: ${whyNoLeader}`],
    proxies.unknown === undefined ? [] : [`The proxies are not known: ${proxies.unknown}`],
  ].flat();
  const problems = [
    ...problemsOfReplicas(controller),
    ...ofLeader,
    ...proxies.problems,
    ...certificates.map(({ problem }) => problem),
    ...unprogrammed(translation, statusOf, settings.controllerName),
    ...findingsOf(report),
    ...report.conflicts.map(({ host, served, notServed }) =>
      warning(formatRef(notServed), `its path on host ${host} is served by ${formatRef(served)}`),
    ),
  ];
  const status: ClusterStatus = {
    context,
    server,
    controllers: { namespace, name, image, replicas, ...leads },
    ...(proxies.proxies !== undefined && { proxies: proxies.proxies }),
    certificates: certificates.map(({ problem: _problem, ...one }) => one),
    objects: report.summary,
    conflicts: report.conflicts,
    problems: [
      ...problems.filter(({ severity }) => severity === "error"),
      ...problems.filter(({ severity }) => severity === "warning"),
    ],
    notes: [...unread, ...notes],
  };
  return ok({ status, translated: translated.value });
}

function problemsOfReplicas({ namespace, name, replicas }: LiveController): readonly StatusProblem[] {
  const { wanted, ready } = replicas;
  if (ready >= wanted) return [];
  const subject = `Deployment ${namespace}/${name}`;
  const message = `${ready} of ${wanted} controllers are ready`;
  return [ready === 0 ? error(subject, message) : warning(subject, message)];
}

const findingsOf = ({ manifests, elsewhere }: CheckReport): readonly StatusProblem[] => {
  const found = [
    ...manifests.flatMap(({ object, findings }) => findings.map((one) => ({ ...one, object }))),
    ...elsewhere,
  ];
  return found.flatMap(({ severity, object, reason, message }): StatusProblem[] =>
    severity === "info" || object === undefined
      ? []
      : [{ severity, subject: formatRef(object), message: `${reason}: ${message}` }],
  );
};

/** Whether there is no problem of this severity or a higher one. */
export const isHealthy = ({ problems }: ClusterStatus, failOn: "error" | "warning"): boolean =>
  !problems.some(({ severity }) => severity === "error" || failOn === "warning");
