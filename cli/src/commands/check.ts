import { clip } from "@svc-gateway/common/settings/arguments.ts";
import { createReport, isFaultless } from "../check/report.ts";
import { formatReport } from "../check/text.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { flagRows, meaningFlags, outputFlag, readFolderFlags } from "../flags.ts";
import { translateFolder } from "../folder.ts";
import { formatData } from "../text/data.ts";
import { paintFor } from "../text/paint.ts";

const flags = [outputFlag, ...meaningFlags];

/** `check DIR`: what a folder of manifests means, before it serves anything. See docs/cli.md. */
export const check: Command = {
  name: "check",
  summary: "Say what a folder of manifests means, and what of it would not be served.",
  help: () =>
    [
      "Usage: svc-gateway check DIR [flags]",
      "",
      "Says of each object in a folder of manifests whether it would be served as written.",
      "",
      "Flags:",
      ...flagRows(flags),
      "",
      "Exit code: 0 when everything is served as written, 1 when something is not, 2 when the folder or a file in it",
      "cannot be read.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const read = readFolderFlags(flags, { argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { settings, positionals } = read.value;
    const [folder, unexpected] = positionals;
    if (folder === undefined) return misused("check: expected a folder");
    if (unexpected !== undefined) return misused(`unexpected argument "${clip(unexpected)}"`);
    const translated = await translateFolder(folder, settings, Date.now());
    if (!translated.ok) return refused(...translated.error);
    const report = await createReport(translated.value);
    io.out.write(formatData(report, settings.output, () => formatReport(report, paintFor(io.out))));
    return done(isFaultless(report) ? 0 : 1);
  },
};
