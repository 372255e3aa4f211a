import { choiceType, namesType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag } from "@svc-gateway/common/settings/flag.ts";
import { done, misused, type Command } from "../command.ts";
import { helpOfFlags, namingClasses, readFolderFlags, translationFlags } from "../command-flags.ts";
import { createAnnotationReport, isAcceptable } from "../report/annotation-report.ts";
import { formatAnnotationReport, formatMarkdown } from "../report/report-text.ts";
import { formatData } from "../text/data.ts";
import { paintFor } from "../text/paint.ts";
import { inputFlags, readInput, type InputSettings } from "../live/input.ts";
import { translateRead } from "../translate-folder.ts";

const outputFlag = flag({
  name: "output",
  short: "o",
  type: choiceType(["text", "markdown", "json", "yaml"]),
  roles: ["standalone"],
  defaultValue: "text",
  meaning: "Output format.",
});

const acceptFlag = flag({
  name: "accept",
  type: namesType,
  roles: ["standalone"],
  defaultValue: [],
  shownDefault: "none",
  meaning: "Annotations, by their names without prefix, that may be refused without exit code 1.",
});

const ownFlags = [outputFlag, acceptFlag, ...inputFlags];

const flags = [...ownFlags, ...translationFlags];

/** `report PATH...`: shows how each annotation of ingress-nginx is handled. See docs/cli.md. */
export const report: Command = {
  flags,
  words: "paths",
  help: () =>
    [
      "Usage: svc-gateway report PATH... [flags]",
      "       svc-gateway report --from cluster [--context NAME] [flags]",
      "",
      "Lists the annotations of Ingresses that are read as ingress-nginx reads them, with what becomes of each: served,",
      "without effect, served differently, or refused. Reads folders of manifests, files, or standard input (-).",
      "Without --ingress-nginx-classes the class is nginx.",
      "",
      ...helpOfFlags(ownFlags),
      "",
      "Exit code: 0 when nothing is refused that is not accepted, 1 when something is or an Ingress is not valid, 2 when a",
      "folder or file cannot be read.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const read = readFolderFlags(flags, { argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { positionals } = read.value;
    const { output, accept, ...given } = read.value.settings as unknown as ReportSettings;
    const settings = namingClasses(given);
    const folder = await readInput("report", positionals, settings, io);
    if (!folder.ok) return folder.error;
    const translated = await translateRead(folder.value, settings, Date.now());
    const found = await createAnnotationReport(translated, accept);
    io.out.write(
      output === "markdown"
        ? formatMarkdown(found)
        : formatData(found, output, (plain) => formatAnnotationReport(plain, paintFor(io.out))),
    );
    return done(isAcceptable(found) ? 0 : 1);
  },
};

type FolderSettings = Parameters<typeof translateRead>[1];
type ReportSettings = Omit<FolderSettings, "output"> &
  InputSettings & {
    readonly output: "text" | "markdown" | "json" | "yaml";
    readonly accept: readonly string[];
  };
