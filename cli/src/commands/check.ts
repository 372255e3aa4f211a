import { createReport, passes } from "../check/report.ts";
import { formatReport } from "../check/report-text.ts";
import { done, misused, refused, type Command, type CommandResult, type Io } from "../command.ts";
import {
  choiceOf,
  failOnFlag,
  givenToControllers,
  helpOfFlags,
  translationFlags,
  outputFlag,
  problemOfPaths,
  readFolderFlags,
  type FolderSettings,
} from "../command-flags.ts";
import { clusterFlags, liveFlag } from "../live/live-flags.ts";
import { translateLive } from "../live/translate-live.ts";
import { translateFolder } from "../translate-folder.ts";
import { formatData } from "../text/data.ts";
import { paintFor } from "../text/paint.ts";

const ownFlags = [outputFlag, failOnFlag, liveFlag, ...clusterFlags];

const flags = [...ownFlags, ...translationFlags];

/** `check PATH`: reports problems of manifests before they are served. See docs/cli.md. */
export const check: Command = {
  flags,
  words: "paths",
  help: () =>
    [
      "Usage: svc-gateway check PATH... [flags]",
      "       svc-gateway check --live [flags]",
      "",
      "Reports for each object in folders of manifests, in files, or on standard input (-) whether it is served as",
      "written. Several paths are read as one set of manifests. With --live the objects of a cluster are read.",
      "",
      ...helpOfFlags(ownFlags),
      "",
      "Exit code: 0 when everything is served as written, 1 when something is not (with --fail-on warning also when",
      "a warning exists), 2 when a folder or file cannot be read.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const read = readFolderFlags(flags, { argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { settings, positionals } = read.value;
    if (settings.live === true) return checkLive(argv, read.value, io);
    const problem = problemOfPaths("check", positionals);
    if (problem !== undefined) return misused(problem);
    const translated = await translateFolder(positionals, settings, io, Date.now());
    if (!translated.ok) return refused(...translated.error);
    const report = await createReport(translated.value);
    io.out.write(formatData(report, settings.output, (plain) => formatReport(plain, paintFor(io.out))));
    return done(passes(report, settings.failOn) ? 0 : 1);
  },
};

async function checkLive(
  argv: readonly string[],
  { settings, positionals }: { readonly settings: FolderSettings; readonly positionals: readonly string[] },
  io: Io,
): Promise<CommandResult> {
  if (positionals.length > 0) return misused("check: expected no path with --live");
  const given = givenToControllers(flags, argv);
  if (!given.ok) return misused(given.error.message);
  const translated = await translateLive(choiceOf(settings), { given: given.value, nowMs: Date.now() }, io);
  if (!translated.ok) return refused(...translated.error);
  const { notes } = translated.value;
  const report = { ...(await createReport(translated.value)), notes };
  io.out.write(formatData(report, settings.output, (plain) => formatReport(plain, paintFor(io.out))));
  return done(passes(report, settings.failOn) ? 0 : 1);
}
