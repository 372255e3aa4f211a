/**
 * Migrated manifests answer requests as the unchanged ones did: what `explain` says about each request of the corpus is compared
 * before and after. Where it differs, agreement.yaml says how, and the report of the migration must name the setting.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { readFolderFlags, translationFlags, type FolderSettings } from "../../src/command-flags.ts";
import { answerRequest, type Answer } from "../../src/explain/answer.ts";
import type { ExplainedBackend } from "../../src/explain/backends.ts";
import { readRequest } from "../../src/explain/request.ts";
import { annotationsTarget } from "../../src/migrate/annotations-target.ts";
import { gatewayTarget } from "../../src/migrate/gateway/gateway-target.ts";
import { joinDocuments } from "../../src/migrate/manifest-texts.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { createMigrationReport, type MigrationReport } from "../../src/migrate/migration-report.ts";
import type { Target } from "../../src/migrate/target.ts";
import { readFolder, translateFolder, type TranslatedFolder } from "../../src/translate-folder.ts";
import { placeBackends } from "./backends.ts";
import { readCorpus, type CorpusRequest } from "./cases.ts";
import { pemOf } from "./client-identities.ts";
import { clusterObjects, nginxFlags } from "./cluster.ts";

const expectedFile = fileURLToPath(new URL("agreement.yaml", import.meta.url));
const writes = process.env["GOLDEN"] === "write";
const nowMs = Date.UTC(2026, 0);
const controllerName = "svc-labs.dev/gateway-controller";

/** As the chart installs them. */
const ownClasses: readonly object[] = [
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    spec: { controller: controllerName },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "GatewayClass",
    metadata: { name: "svc" },
    spec: { controllerName },
  },
];

const targets: Readonly<Record<string, Target>> = {
  annotations: annotationsTarget("svc", controllerName),
  "gateway-api": gatewayTarget({
    gateway: { namespace: "svc-system", name: "public" },
    isGiven: false,
    gatewayClass: "svc",
    controllerName,
  }),
};

/** What differs, by case and request: the aspect, with what it was and what it is. */
type Differences = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

/** Settings of which one must be reported when an aspect differs; header fields are aspects by their name. */
const causes: Readonly<Record<string, RegExp>> = {
  answer:
    /auth|satisfy|snippet|canary|limit|list-source-range|backend-protocol|cors|default-backend|redirect|rewrite|regex|paths/,
  location: /redirect|app-root|auth-signin/,
  backends: /canary|backend-protocol|default-backend|paths/,
  connection: /backend-protocol|proxy-ssl|ssl-passthrough/,
  balancing: /upstream-hash-by|load-balance/,
  target: /rewrite-target|use-regex|paths/,
  host: /upstream-vhost|snippet/,
  fields: /snippet|auth|upstream|forwarded|headers|custom/,
};

function settingsOf(extra: readonly string[]): FolderSettings {
  const argv = ["--port-map", "80=80,443=443", ...extra];
  const read = readFolderFlags(translationFlags, { argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
}

const inputOf = (text: string) => ({ input: (): Readable => Readable.from([text]) });

async function translated(text: string, extra: readonly string[]): Promise<TranslatedFolder> {
  const folder = await translateFolder(["-"], settingsOf(extra), inputOf(text), nowMs);
  if (!folder.ok) throw new Error(folder.error.join("\n"));
  return folder.value;
}

type Migrated = {
  readonly differences: Differences[string];
  readonly report: MigrationReport;
  /** Policies that are written and have no effect. */
  readonly conflicts: readonly string[];
};

describe("Ingresses of popular charts, migrated", () => {
  // The examples of the documentation have no namespace, or one of several cases.
  const corpus = [
    ...readCorpus(),
    ...readCorpus("documentation").map((one) => ({
      ...one,
      key: `documentation of ${one.name}`,
      name: /^ {2}namespace: (\S+)$/m.exec(one.manifests)?.[1] ?? "default",
    })),
  ].map((one) => ({ key: one.name, ...one }));
  const texts = new Map<string, string>();
  const unchanged = new Map<string, TranslatedFolder>();

  before(async () => {
    for (const one of corpus) {
      const objects = [...clusterObjects, ...ownClasses, ...placeBackends(one)];
      const text = joinDocuments([
        ...objects.map((object) => `${JSON.stringify(object)}\n`),
        one.manifests.replaceAll("${pem:authority}", JSON.stringify(pemOf("authority")).slice(1, -1)),
      ]);
      texts.set(one.key, text);
      unchanged.set(one.key, await translated(text, nginxFlags));
    }
  });

  const migrateCase = async (
    { key, requests }: (typeof corpus)[number],
    target: Target,
  ): Promise<Migrated> => {
    const folder = await readFolder(["-"], inputOf(texts.get(key) ?? ""));
    const before = unchanged.get(key);
    if (!folder.ok || before === undefined) throw new Error(`${key} cannot be read`);
    const migration = await migrate(folder.value, target, { settings: settingsOf(nginxFlags), nowMs });
    const after = await translated(joinDocuments([...migration.files.values()]), []);
    const found = requests.flatMap((request): [string, Record<string, string>][] => {
      const aspects = compare(explain(request, before), explain(request, after));
      return Object.keys(aspects).length === 0 ? [] : [[request.request, aspects]];
    });
    const report = await createMigrationReport(folder.value, migration, []);
    const conflicts = after.translation.diagnostics
      .filter(({ reason }) => reason === "PolicyConflict")
      .map(({ object, message }) => `${key}: ${object.kind} ${object.name}: ${message}`);
    return { differences: Object.fromEntries(found), report, conflicts };
  };

  for (const [name, target] of Object.entries(targets)) {
    it(`explanations of requests agree before and after a migration to ${name}, but for what the report names`, async () => {
      const found: Record<string, Differences[string]> = {};
      const notNamed: string[] = [];
      const withoutEffect: string[] = [];
      for (const one of corpus) {
        const { differences, report, conflicts } = await migrateCase(one, target);
        withoutEffect.push(...conflicts);
        if (Object.keys(differences).length > 0) found[one.key] = differences;
        notNamed.push(...unexplained(one.key, differences, report));
      }
      const all = (parse(readFileSync(expectedFile, "utf8")) ?? {}) as Record<string, Differences>;
      if (writes) writeFileSync(expectedFile, stringify({ ...all, [name]: found }, { lineWidth: 0 }));
      else expect(found).to.deep.equal(all[name]);
      expect(notNamed, "differences that the report does not name").to.deep.equal([]);
      expect(withoutEffect, "policies without effect").to.deep.equal([]);
    });
  }
});

function explain({ request, headers = {}, user }: CorpusRequest, folder: TranslatedFolder): Answer {
  const [word = "GET", target = ""] = request.split(" ");
  const method = word === "WEBSOCKET" ? "GET" : word === "GRPC" ? "POST" : word;
  const url = target.replace(/^ws/, "http").replace(/^grpc/, "http");
  const fields = [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(word === "GRPC" ? ["content-type: application/grpc"] : []),
    ...(user === undefined ? [] : [`authorization: Basic ${Buffer.from(user).toString("base64")}`]),
  ];
  const read = readRequest(method, url, fields);
  if (!read.ok) throw new Error(read.error.message);
  return answerRequest(read.value, folder, []);
}

/** The aspects that differ, each as `before -> after`. */
function compare(before: Answer, after: Answer): Record<string, string> {
  const [was, is] = [before, after].map(aspectsOf);
  const isOther = was?.["answer"] !== is?.["answer"];
  // What another answer brings along need not be said.
  const names = isOther ? ["answer"] : new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const [a, b] = [was?.[name], is?.[name]];
      return isDeepStrictEqual(a, b) ? [] : [[name, `${a ?? "none"} -> ${b ?? "none"}`]];
    }),
  );
}

function aspectsOf({ reply, upstream, route }: Answer): Readonly<Record<string, string>> {
  const [sent] = upstream;
  const fields = Object.fromEntries(
    (sent?.headers ?? []).map(({ name, value }) => [`field ${name.toLowerCase()}`, value]),
  );
  return {
    answer: reply.by === "backend" ? "backend" : String(reply.status ?? reply.by),
    ...(reply.location !== undefined && { location: reply.location }),
    ...(sent && {
      backends: upstream.map(({ service }) => service).join(", "),
      connection: inOneText(
        route,
        ({ protocol, tls }) => `${protocol}${tls === undefined ? "" : " over TLS"}`,
      ),
      balancing: inOneText(route, ({ balancing = "in turn" }) => balancing),
      target: `${sent.method} ${sent.target}`,
      host: sent.host,
      ...fields,
    }),
  };
}

const inOneText = (route: Answer["route"], say: (backend: ExplainedBackend) => string): string =>
  [...new Set(route?.backends.map(say))].join(", ");

/** Aspects that differ without a row of the report about a setting that can cause it. */
function unexplained(
  name: string,
  differences: Differences[string],
  { rows }: MigrationReport,
): readonly string[] {
  const settings = rows.filter(({ outcome }) => outcome !== "same").map(({ setting }) => setting);
  return Object.entries(differences).flatMap(([request, aspects]) =>
    Object.keys(aspects)
      .map((aspect) => (aspect.startsWith("field ") ? "fields" : aspect))
      .filter((aspect) => !settings.some((setting) => causes[aspect]?.test(setting)))
      .map((aspect) => `${name}: ${request}: ${aspect}`),
  );
}
