import { durationType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag } from "@svc-gateway/common/settings/flag.ts";
import {
  choiceOf,
  failOnFlag,
  flagRows,
  outputFlag,
  readFolderFlags,
  type FolderSettings,
} from "../command-flags.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { clusterFlags } from "../live/live-flags.ts";
import { formatStatus } from "../status/status-text.ts";
import { isHealthy, readStatus } from "../status/status.ts";
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

const flags = [...clusterFlags, outputFlag, failOnFlag, endingFlag];

/** `status`: what an installation serves, and what is wrong with it. See docs/cli.md, "status". */
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
    const settings = read.value.settings as FolderSettings & { readonly certificatesWithinMs: number };
    const nowMs = Date.now();
    const found = await readStatus(
      choiceOf(settings),
      { nowMs, withinMs: settings.certificatesWithinMs },
      io,
    );
    if (!found.ok) return refused(...found.error);
    io.out.write(
      formatData(found.value, settings.output, () => formatStatus(found.value, nowMs, paintFor(io.out))),
    );
    return done(isHealthy(found.value, settings.failOn) ? 0 : 1);
  },
};
