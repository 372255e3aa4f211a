import { durationType, pathType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag, optionalFlag } from "@svc-gateway/common/settings/flag.ts";
import {
  choiceOf,
  failOnFlag,
  flagRows,
  outputFlag,
  readFolderFlags,
  type FolderSettings,
} from "../command-flags.ts";
import { writeArchive } from "../bundle/archive.ts";
import { collectBundle } from "../bundle/collect.ts";
import { done, misused, refused, type Command, type CommandResult, type Io } from "../command.ts";
import { clusterFlags } from "../live/live-flags.ts";
import { formatStatus } from "../status/status-text.ts";
import { isHealthy, openInstallation, readStatus, type ReadableInstallation } from "../status/status.ts";
import { formatData } from "../text/data.ts";
import { paintFor } from "../text/paint.ts";

const dayMs = 24 * 60 * 60 * 1000;

const endingFlag = flag({
  name: "certificates-within",
  type: durationType({ minMs: 0, maxMs: 10_000 * dayMs }),
  roles: ["standalone"],
  defaultValue: 14 * dayMs,
  shownDefault: "336h",
  meaning: "Time before its end from which a certificate is reported.",
});

const bundleFlag = optionalFlag({
  name: "bundle",
  type: pathType,
  roles: ["standalone"],
  shownDefault: "none",
  meaning: "Archive (.tar.gz) to write with the status, objects, logs and metrics, without secrets.",
});

const flags = [...clusterFlags, outputFlag, failOnFlag, endingFlag, bundleFlag];

/** `status`: shows what an installation serves, and its problems. See docs/cli.md, "status". */
export const status: Command = {
  flags,
  words: "none",
  help: () =>
    [
      "Usage: svc-gateway status [flags]",
      "",
      "Shows the controllers and their leader, the proxies with the version that each serves, certificates that end soon,",
      "Gateways and routes that are not programmed, findings and conflicts. Reads a cluster and changes nothing.",
      "",
      "Flags:",
      ...flagRows(flags),
      "",
      "Exit code: 0 when nothing is wrong, 1 when something is (with --fail-on warning also when a warning exists), 2 when",
      "the cluster cannot be read.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const read = readFolderFlags(flags, { argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    if (read.value.positionals.length > 0) return misused("status: expected no argument");
    const settings = read.value.settings as StatusSettings;
    const { bundle } = settings;
    if (bundle !== undefined && !/\.(tar\.gz|tgz)$/.test(bundle)) {
      return misused(`--bundle: got "${bundle}", expected a file whose name ends with .tar.gz`);
    }
    const opened = await openInstallation(choiceOf(settings), io);
    if (!opened.ok) return refused(...opened.error);
    try {
      return await showStatus(opened.value, settings, io);
    } finally {
      await opened.value.cluster.close();
    }
  },
};

type StatusSettings = FolderSettings & {
  readonly certificatesWithinMs: number;
  readonly bundle: string | undefined;
};

async function showStatus(
  installation: ReadableInstallation,
  { certificatesWithinMs: withinMs, bundle, output, failOn }: StatusSettings,
  io: Io,
): Promise<CommandResult> {
  const nowMs = Date.now();
  const found = await readStatus(installation, { nowMs, withinMs });
  if (!found.ok) return refused(...found.error);
  const { status: state, translated } = found.value;
  if (bundle !== undefined) {
    const { cluster, controller } = installation;
    const entries = await collectBundle({
      client: cluster.client,
      controller,
      status: state,
      translated,
      nowMs,
    });
    const written = await writeArchive(bundle, entries, nowMs);
    if (!written.ok) return refused(written.error.message);
    // Written to standard error, because programs read the data on standard output.
    io.err.write(`${entries.length} files are written to ${bundle}; look at them before you pass them on\n`);
  }
  io.out.write(formatData(state, output, (plain) => formatStatus(plain, nowMs, paintFor(io.out))));
  return done(isHealthy(state, failOn) ? 0 : 1);
}
