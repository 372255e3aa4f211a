import { clip } from "@svc-gateway/common/settings/arguments.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import {
  choiceType,
  headerType,
  namespacedNameType,
  tokenType,
} from "@svc-gateway/common/settings/flag-types.ts";
import { flag, optionalFlag } from "@svc-gateway/common/settings/flag.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import {
  choiceOf,
  helpOfFlags,
  givenToControllers,
  manifestsFlag,
  namingClasses,
  translationFlags,
  outputFlag,
  readFolderFlags,
  type FolderSettings,
} from "../command-flags.ts";
import { done, misused, refused, type Command, type CommandResult, type Io } from "../command.ts";
import { answerRequest, type Answer } from "../explain/answer.ts";
import { answerAll, type Answered, type AnswerSource } from "../explain/answer-source.ts";
import { formatAnswer } from "../explain/answer-text.ts";
import { entrancesOf, type Entrance } from "../explain/entrances.ts";
import { formatL4Answer } from "../explain/l4-text.ts";
import { answerConnection, readConnection, type ExplainedConnection } from "../explain/l4.ts";
import { type ExplainedRequest, readRequest } from "../explain/request.ts";
import { decideToken, readToken, withPlaceholder } from "../explain/token.ts";
import { clusterFlags, liveFlag } from "../live/live-flags.ts";
import { translateLive } from "../live/translate-live.ts";
import { translateFolder } from "../translate-folder.ts";
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

const gatewayFlag = optionalFlag({
  name: "gateway",
  type: namespacedNameType,
  roles: ["standalone"],
  shownDefault: "whichever takes the request",
  meaning: "With --live: the Gateway that the request comes in through.",
});

/** Flags that are parsed before all others: headers can contain commas, and a token must not become a setting. */
const ownFlags = [
  optionalFlag({
    name: "header",
    short: "H",
    type: headerType,
    roles: ["standalone"],
    meaning: "Header of the request; may be repeated.",
  }),
  optionalFlag({
    name: "token",
    type: tokenType,
    roles: ["standalone"],
    meaning:
      "A JSON Web Token, or a file with one: say what the route's JwtAuth decides about it. It is never printed.",
  }),
];

const commandFlags = [manifestsFlag, asFlag, liveFlag, gatewayFlag, ...clusterFlags, outputFlag];

const flags = [...commandFlags, ...translationFlags];

/** `explain METHOD URL`: shows how one request is handled, by the code of the data plane. See docs/cli.md. */
export const explain: Command = {
  flags: [...ownFlags, ...flags],
  words: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
  help: () =>
    [
      "Usage: svc-gateway explain [METHOD] URL --manifests PATH [-H 'Name: value']... [--token TOKEN|@FILE] [flags]",
      "       svc-gateway explain tcp://HOST:PORT|tls://NAME:PORT|udp://HOST:PORT --manifests PATH [flags]",
      "       svc-gateway explain [METHOD] URL --live [flags]",
      "",
      "Shows the listener, certificate, host, route, filters and endpoints of a request, and why other routes do not",
      "match. METHOD defaults to GET. The host is that of the URL unless -H sets it.",
      "PATH is a folder of manifests, a file, or - for standard input. With --live the objects of a cluster are read.",
      "",
      ...helpOfFlags([...ownFlags, ...commandFlags]),
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
    if (connection !== undefined && token !== undefined) {
      return misused("--token: only requests have a token, not connections");
    }
    const answerOf =
      connection === undefined
        ? httpAnswer(first, second, { headers: fields.value.headers, token: token?.value })
        : ok(l4Answer(connection.value));
    if (!answerOf.ok) return misused(answerOf.error.message);
    const source = await readSource(settings, fields.value.rest, io);
    if ("type" in source) return source;
    const answered = await answerOf.value(source);
    if (answered === undefined) {
      return refused("--gateway: this Gateway has no address, so no request reaches it");
    }
    io.out.write(formatData(answered.data, settings.output, () => answered.text(paintFor(io.out))));
    return done(answered.isRoute ? 0 : 1);
  },
};

type AnswerOf = (source: AnswerSource) => Promise<Answered | undefined>;

function httpAnswer(
  first: string,
  second: string | undefined,
  { headers, token }: { readonly headers: readonly string[]; readonly token: string | undefined },
): Result<AnswerOf> {
  const [method, url] = second === undefined ? ["GET", first] : [first, second];
  const request = readRequest(method, url, headers);
  if (!request.ok) return request;
  const answerAt = (entrance: Entrance): Promise<Answer> => answerWithToken(request.value, token, entrance);
  return ok((source) => answerAll(source, answerAt, formatAnswer));
}

async function answerWithToken(
  request: ExplainedRequest,
  token: string | undefined,
  { folder, portMap }: Entrance,
): Promise<Answer> {
  const answerTo = (asked: ExplainedRequest): Answer => answerRequest(asked, folder, portMap);
  const plain = answerTo(request);
  if (token === undefined) return plain;
  return decideToken(answerTo(withPlaceholder(request, plain)), token, folder.translation, Date.now());
}

const l4Answer =
  (connection: ExplainedConnection): AnswerOf =>
  (source) =>
    answerAll(source, ({ folder, portMap }) => answerConnection(connection, folder, portMap), formatL4Answer);

type ExplainSettings = Omit<FolderSettings, "manifests"> & {
  readonly manifests?: string;
  readonly as: "configured" | "nginx";
  readonly gateway?: NamespacedName;
};

async function readSource(
  settings: ExplainSettings,
  argv: readonly string[],
  io: Io,
): Promise<AnswerSource | CommandResult> {
  const { live, manifests, gateway, portMap } = settings;
  if (live !== true) {
    if (manifests === undefined) return misused("explain: expected --manifests PATH, or --live");
    const folder = await translateFolder([manifests], { ...settings, manifests }, io, Date.now());
    if (!folder.ok) return refused(...folder.error);
    return { entrances: [{ name: "", folder: folder.value, portMap }], gateway: undefined, notes: undefined };
  }
  if (manifests !== undefined) return misused("--manifests: cannot be combined with --live");
  if (settings.as !== "configured") {
    return misused("--as: cannot be combined with --live, which reads Ingresses as the controller does");
  }
  const given = givenToControllers(flags, argv);
  if (!given.ok) return misused(given.error.message);
  const cluster = await translateLive(choiceOf(settings), { given: given.value, nowMs: Date.now() }, io);
  if (!cluster.ok) return refused(...cluster.error);
  return { entrances: entrancesOf(cluster.value), gateway, notes: cluster.value.notes };
}

type Words = {
  readonly headers: readonly string[];
  readonly token: string | undefined;
  readonly rest: readonly string[];
};

const readingAs = (settings: ExplainSettings): ExplainSettings =>
  settings.as === "nginx" ? namingClasses(settings) : settings;

/** Separates `-H value` and `--header value`, which may be repeated, and `--token value` from the other arguments. */
function takeWords(argv: readonly string[]): Result<Words, Problem> {
  const headers: string[] = [];
  let token: string | undefined;
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word.startsWith("--header=")) headers.push(word.slice("--header=".length));
    else if (word === "-H" || word === "--header") {
      const value = argv[++index];
      if (value === undefined) return problem(`${word}: expected ${headerType.expected}, got nothing`);
      headers.push(value);
    } else if (word.startsWith("--token=")) token = word.slice("--token=".length);
    else if (word === "--token") {
      token = argv[++index];
      if (token === undefined) return problem(`--token: expected ${tokenType.expected}, got nothing`);
    } else rest.push(word);
  }
  return ok({ headers, token, rest });
}
