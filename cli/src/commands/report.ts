import { choiceType, namesType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag } from "@svc-gateway/common/settings/flag.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { flagRows, translationFlags, problemOfPaths, readFolderFlags } from "../command-flags.ts";
import { createAnnotationReport, isAcceptable } from "../report/annotation-report.ts";
import { formatAnnotationReport, formatMarkdown } from "../report/report-text.ts";
import { formatData } from "../text/data.ts";
import { paintFor } from "../text/paint.ts";
import { translateFolder } from "../translate-folder.ts";

const outputFlag = flag({
  name: "output",
  type: choiceType(["text", "markdown", "json", "yaml"]),
  roles: ["standalone"],
  defaultValue: "text",
  meaning: "Output format; short form: -o.",
});

const acceptFlag = flag({
  name: "accept",
  type: namesType,
  roles: ["standalone"],
  defaultValue: [],
  shownDefault: "none",
  meaning: "Annotations, by their names without prefix, that may be refused without exit code 1.",
});

const flags = [outputFlag, acceptFlag, ...translationFlags];

/** The class of ingress-nginx, where no flag names one. */
const usualClasses = ["nginx"];

/** `report PATH...`: what becomes of each annotation of ingress-nginx. See docs/cli.md. */
export const report: Command = {
  name: "report",
  summary: "Show what becomes of each annotation of ingress-nginx.",
  help: () =>
    [
      "Usage: svc-gateway report PATH... [flags]",
      "",
      "Lists the annotations of Ingresses that are read as ingress-nginx reads them, with what becomes of each: served,",
      "without effect, served differently, or refused. Reads folders of manifests, files, or standard input (-).",
      "Without --ingress-nginx-classes the class is nginx.",
      "",
      "Flags:",
      ...flagRows(flags),
      "",
      "Exit code: 0 when nothing is refused that is not accepted, 1 when something is, 2 when a folder or file cannot be",
      "read.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const read = readFolderFlags(flags, { argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { positionals } = read.value;
    const { output, accept, ...given } = read.value.settings as unknown as ReportSettings;
    const problem = problemOfPaths("report", positionals);
    if (problem !== undefined) return misused(problem);
    const namesNone = given.ingressNginxClasses.length === 0 && !given.ingressNginxWatchWithoutClass;
    const settings = namesNone ? { ...given, ingressNginxClasses: usualClasses } : given;
    const translated = await translateFolder(positionals, settings, io, Date.now());
    if (!translated.ok) return refused(...translated.error);
    const found = await createAnnotationReport(translated.value, accept);
    io.out.write(
      output === "markdown"
        ? formatMarkdown(found)
        : formatData(found, output, () => formatAnnotationReport(found, paintFor(io.out))),
    );
    return done(isAcceptable(found) ? 0 : 1);
  },
};

type FolderSettings = Parameters<typeof translateFolder>[1];
type ReportSettings = Omit<FolderSettings, "output"> & {
  readonly output: "text" | "markdown" | "json" | "yaml";
  readonly accept: readonly string[];
};
