import { choiceType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag } from "@svc-gateway/common/settings/flag.ts";
import { clip } from "@svc-gateway/common/settings/arguments.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { answerRequest, type Answer } from "../explain/answer.ts";
import { formatL4Answer } from "../explain/l4-text.ts";
import { answerConnection, readConnection } from "../explain/l4.ts";
import { type ExplainedRequest, readRequest } from "../explain/request.ts";
import { decideToken, readToken, withPlaceholder } from "../explain/token.ts";
import { formatAnswer } from "../explain/answer-text.ts";
import {
  flagRows,
  manifestsFlag,
  namingClasses,
  outputFlag,
  readFolderFlags,
  translationFlags,
  type FolderSettings,
} from "../command-flags.ts";
import { translateFolder } from "../translate-folder.ts";
import { twoColumns } from "../text/columns.ts";
import { formatData } from "../text/data.ts";
import { paintFor } from "../text/paint.ts";

const asFlag = flag({
  name: "as",
  type: choiceType(["configured", "nginx"]),
  roles: ["standalone"],
  defaultValue: "configured",
  meaning:
    "How Ingresses are read: `nginx` as ingress-nginx reads them, of the class nginx unless `--ingress-nginx-classes` names others; `configured` as the other flags and the classes say.",
});

const flags = [manifestsFlag, asFlag, outputFlag, ...translationFlags];

/** `explain METHOD URL`: how one request is handled, found by the data plane's own code. See docs/cli.md. */
export const explain: Command = {
  name: "explain",
  summary: "Show which route a request takes, and why others do not match.",
  help: () =>
    [
      "Usage: svc-gateway explain [METHOD] URL --manifests PATH [-H 'Name: value']... [--token TOKEN|@FILE] [flags]",
      "       svc-gateway explain tcp://HOST:PORT|tls://NAME:PORT|udp://HOST:PORT --manifests PATH [flags]",
      "",
      "Shows the listener, certificate, host, route, filters and endpoints of a request, and why other routes do not",
      "match. METHOD defaults to GET. The host is that of the URL unless -H sets it.",
      "PATH is a folder of manifests, a file, or - for standard input.",
      "",
      "Flags:",
      ...twoColumns([
        ["-H, --header <Name: value>", "Header of the request; may be repeated."],
        [
          "--token <token|@file>",
          "A JSON Web Token, or a file with one: say what the route's JwtAuth decides about it. It is never printed.",
        ],
      ]),
      ...flagRows(flags),
      "",
      "Exit code: 0 when a route matches the request, 1 when none does, 2 when the folder or a file in it cannot be",
      "read.",
      "",
    ].join("\n"),
  async run(argv, io) {
    const fields = takeWords(argv);
    if (!fields.ok) return misused(fields.error.message);
    const read = readFolderFlags(flags, { argv: fields.value.rest, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { positionals } = read.value;
    const settings = readingAs(read.value.settings as ExplainSettings);
    const [first, second, unexpected] = positionals;
    if (first === undefined) return misused("explain: expected a method and a URL");
    if (unexpected !== undefined) return misused(`unexpected argument "${clip(unexpected)}"`);
    const connection = second === undefined ? readConnection(first) : undefined;
    if (connection?.ok === false) return misused(connection.error.message);
    const token = fields.value.token === undefined ? undefined : await readToken(fields.value.token);
    if (token?.ok === false) return misused(token.error.message);
    if (connection !== undefined) {
      if (token !== undefined) return misused("--token: only requests have a token, not connections");
      const folder = await translateFolder([settings.manifests], settings, io, Date.now());
      if (!folder.ok) return refused(...folder.error);
      const answer = answerConnection(connection.value, folder.value, settings.portMap);
      io.out.write(formatData(answer, settings.output, () => formatL4Answer(answer, paintFor(io.out))));
      return done(answer.outcome === "route" ? 0 : 1);
    }
    const [method, url] = second === undefined ? ["GET", first] : [first, second];
    const request = readRequest(method, url, fields.value.headers);
    if (!request.ok) return misused(request.error.message);
    const translated = await translateFolder([settings.manifests], settings, io, Date.now());
    if (!translated.ok) return refused(...translated.error);
    const answerTo = (asked: ExplainedRequest): Answer =>
      answerRequest(asked, translated.value, settings.portMap);
    const plain = answerTo(request.value);
    const answer =
      token === undefined
        ? plain
        : await decideToken(
            answerTo(withPlaceholder(request.value, plain)),
            token.value,
            translated.value.translation,
            Date.now(),
          );
    io.out.write(formatData(answer, settings.output, () => formatAnswer(answer, paintFor(io.out))));
    return done(answer.outcome === "route" ? 0 : 1);
  },
};

type Words = {
  readonly headers: readonly string[];
  readonly token: string | undefined;
  readonly rest: readonly string[];
};

type ExplainSettings = FolderSettings & { readonly as: "configured" | "nginx" };

const readingAs = ({ as, ...settings }: ExplainSettings): FolderSettings =>
  as === "nginx" ? namingClasses(settings) : settings;

/** Takes `-H value` and `--header value`, which may be repeated, and `--token value` out of a command line. */
function takeWords(argv: readonly string[]): Result<Words, Problem> {
  const headers: string[] = [];
  let token: string | undefined;
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word.startsWith("--header=")) headers.push(word.slice("--header=".length));
    else if (word === "-H" || word === "--header") {
      const value = argv[++index];
      if (value === undefined) return problem(`${word}: expected "Name: value", got nothing`);
      headers.push(value);
    } else if (word.startsWith("--token=")) token = word.slice("--token=".length);
    else if (word === "--token") {
      token = argv[++index];
      if (token === undefined) return problem("--token: expected a token or @file, got nothing");
    } else rest.push(word);
  }
  return ok({ headers, token, rest });
}
