import type { World } from "@svc-gateway/operator/world.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import {
  choiceType,
  namespacedNameType,
  namesType,
  objectNameType,
  pathType,
} from "@svc-gateway/common/settings/flag-types.ts";
import { flag, optionalFlag } from "@svc-gateway/common/settings/flag.ts";
import { helpOfFlags, namingClasses, readFolderFlags, translationFlags } from "../command-flags.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { joinDocuments } from "../migrate/manifest-texts.ts";
import { annotationsTarget } from "../migrate/annotations-target.ts";
import { gatewayTarget } from "../migrate/gateway/gateway-target.ts";
import { migrate as migrateManifests } from "../migrate/migrate.ts";
import { createMigrationReport, isAcceptable, type MigrationReport } from "../migrate/migration-report.ts";
import { formatMigration, formatMigrationMarkdown } from "../migrate/report-text.ts";
import { writeReport, writeToFolder } from "../migrate/write-files.ts";
import { formatData } from "../text/data.ts";
import { paintFor, type Paint } from "../text/paint.ts";
import { inputFlags, readInput, type InputSettings } from "../live/input.ts";

const ownFlags = [
  flag({
    name: "to",
    type: choiceType(["annotations", "gateway-api"]),
    roles: ["standalone"],
    defaultValue: "annotations",
    meaning:
      "What is written: Ingresses with annotations of this gateway, or routes of the Gateway API; both with its policies.",
  }),
  optionalFlag({
    name: "gateway",
    type: namespacedNameType,
    roles: ["standalone"],
    shownDefault: "a Gateway svc-system/public, which is written",
    meaning: "Gateway, as `namespace/name`, that routes attach to; with `--to gateway-api`.",
  }),
  optionalFlag({
    name: "class",
    type: objectNameType,
    roles: ["standalone"],
    shownDefault: "the first class of this gateway in the manifests, else svc",
    meaning: "Class of the Ingresses that are written.",
  }),
  optionalFlag({
    name: "output",
    short: "o",
    type: pathType,
    roles: ["standalone"],
    shownDefault: "standard output",
    meaning: "Folder that the manifests are written to, under their names.",
  }),
  optionalFlag({
    name: "report",
    type: pathType,
    roles: ["standalone"],
    shownDefault: "standard error",
    meaning: "File that the report is written to.",
  }),
  flag({
    name: "format",
    type: choiceType(["text", "markdown", "json"]),
    roles: ["standalone"],
    defaultValue: "text",
    meaning: "Format of the report.",
  }),
  flag({
    name: "accept",
    type: namesType,
    roles: ["standalone"],
    defaultValue: [],
    shownDefault: "none",
    meaning: "Settings, by their names without prefix, that may be lost without exit code 1.",
  }),
  ...inputFlags,
];

const flags = [...ownFlags, ...translationFlags];

/** `migrate PATH...`: converts Ingresses of ingress-nginx to resources of this gateway. See docs/cli.md. */
export const migrate: Command = {
  flags,
  words: "paths",
  help: () =>
    [
      "Usage: svc-gateway migrate PATH... [--output DIR] [flags]",
      "       svc-gateway migrate --from cluster [--context NAME] [--output DIR] [flags]",
      "",
      "Writes manifests in which Ingresses of ingress-nginx have annotations and policies of this gateway instead of those of",
      "ingress-nginx, or are routes of the Gateway API, and reports what is the same, changed or lost. Everything else in the",
      "manifests stays as it is written.",
      "Reads folders of manifests, files, or standard input (-). Without --ingress-nginx-classes the class is nginx.",
      "",
      ...helpOfFlags(ownFlags),
      "",
      "Exit code: 0 when nothing is lost that is not accepted, 1 when something is or an Ingress is not valid, 2 when a folder",
      "or file cannot be read or written.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const read = readFolderFlags(flags, { argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { positionals } = read.value;
    const {
      accept,
      format,
      output,
      report: reportFile,
      to,
      gateway,
      class: asked,
      ...given
    } = read.value.settings as unknown as MigrateSettings;
    const settings = namingClasses(given);
    const folder = await readInput("migrate", positionals, settings, io);
    if (!folder.ok) return folder.error;
    const { IngressClass: classes } = folder.value.state.world;
    const isOwn = (name: string): boolean => !settings.ingressNginxClasses.includes(name);
    const ofGateway = classes.filter(({ spec }) => spec?.controller === settings.controllerName);
    const className = asked ?? ofGateway.map(({ metadata }) => metadata.name).find(isOwn) ?? "svc";
    if (!isOwn(className)) {
      return misused(
        `--class: "${className}" is read as ingress-nginx reads it, expected a class of this gateway's own`,
      );
    }
    const { controllerName } = settings;
    const target =
      to === "annotations"
        ? annotationsTarget(className, controllerName)
        : gatewayTarget({
            gateway: gateway ?? defaultGateway,
            isGiven: gateway !== undefined,
            gatewayClass: gatewayClassOf(folder.value.state.world, controllerName),
            controllerName,
          });
    const migration = await migrateManifests(folder.value, target, { settings, nowMs: Date.now() });
    const report = await createMigrationReport(folder.value, migration, accept);
    if (output === undefined) io.out.write(joinDocuments([...migration.files.values()]));
    else {
      const written = await writeToFolder(output, positionals, migration.files);
      if (!written.ok) return refused(written.error.message);
    }
    const plain = reportFile !== undefined;
    const text = formatReport(report, format, plain ? paintFor({ hasColours: false }) : paintFor(io.err));
    if (reportFile === undefined) io.err.write(text);
    else {
      const written = await writeReport(reportFile, text);
      if (!written.ok) return refused(written.error.message);
    }
    return done(isAcceptable(report) ? 0 : 1);
  },
};

const defaultGateway: NamespacedName = { namespace: "svc-system", name: "public" };

/** The GatewayClass for a Gateway that is written. */
const gatewayClassOf = ({ GatewayClass: classes }: World, controllerName: string): string =>
  classes.find(({ spec }) => spec.controllerName === controllerName)?.metadata.name ?? "svc";

type FolderSettings = Parameters<typeof migrateManifests>[2]["settings"];
type MigrateSettings = FolderSettings &
  InputSettings & {
    readonly to: "annotations" | "gateway-api";
    readonly gateway: NamespacedName | undefined;
    readonly class: string | undefined;
    readonly output: string | undefined;
    readonly report: string | undefined;
    readonly format: "text" | "markdown" | "json";
    readonly accept: readonly string[];
  };

const formatReport = (report: MigrationReport, format: MigrateSettings["format"], paint: Paint): string =>
  format === "markdown"
    ? formatMigrationMarkdown(report)
    : formatData(report, format, (plain) => formatMigration(plain, paint));
