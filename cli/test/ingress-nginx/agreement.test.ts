/**
 * Tests that migrated manifests answer requests as the unchanged ones did, by comparing the output of `explain` for
 * each request of the corpus. agreement.yaml lists the differences, and the report of the migration must name a setting
 * that can cause each of them.
 */
import { expect } from "chai";
import { answerRequest, type Answer } from "../../src/explain/answer.ts";
import type { ExplainedBackend } from "../../src/explain/backends.ts";
import { readRequest } from "../../src/explain/request.ts";
import { joinDocuments } from "../../src/migrate/manifest-texts.ts";
import type { MigrationReport } from "../../src/migrate/migration-report.ts";
import type { Target } from "../../src/migrate/target.ts";
import { translateFolder, type TranslatedFolder } from "../../src/translate-folder.ts";
import {
  changedSettings,
  compareAspects,
  expectAgreement,
  type Aspects,
  type CaseDifferences,
  type ComparedCase,
} from "./agreement.ts";
import { placeBackends } from "./backends.ts";
import { readCorpus, type CorpusRequest } from "./cases.ts";
import { clusterObjects, nginxFlags } from "./cluster.ts";
import { inputOf, migrateText, nowMs, ownClasses, settingsOf, targets } from "./migrated.ts";
import { readRules } from "./rule-cases.ts";
import { flagsOf, manifestsOf } from "./rule-gateway.ts";

async function translated(text: string, extra: readonly string[]): Promise<TranslatedFolder> {
  const folder = await translateFolder(["-"], settingsOf(extra), inputOf(text), nowMs);
  if (!folder.ok) throw new Error(folder.error.join("\n"));
  return folder.value;
}

type Migrated = {
  readonly differences: CaseDifferences;
  readonly report: MigrationReport;
  /** Policies that are written and have no effect. */
  readonly conflicts: readonly string[];
};

type Case = {
  readonly key: string;
  readonly text: string;
  /** The flags with which the text is read before it is migrated. */
  readonly flags: readonly string[];
  readonly requests: readonly CorpusRequest[];
};

const textOf = (objects: readonly object[], manifests: string): string =>
  joinDocuments([...objects.map((object) => `${JSON.stringify(object)}\n`), manifests]);

function chartCases(): readonly Case[] {
  // The examples of the documentation have no namespace, or one of several cases.
  const corpus = [
    ...readCorpus(),
    ...readCorpus("documentation").map((one) => ({
      ...one,
      key: `documentation of ${one.name}`,
      name: /^ {2}namespace: (\S+)$/m.exec(one.manifests)?.[1] ?? "default",
    })),
  ].map((one) => ({ key: one.name, ...one }));
  return corpus.map((one) => ({
    key: one.key,
    text: textOf([...clusterObjects, ...ownClasses, ...placeBackends(one)], one.manifests),
    flags: nginxFlags,
    requests: one.requests,
  }));
}

/** The rules of client certificates, of which the charts have few. */
function ruleCases(): readonly Case[] {
  const ports = new Map([["app", [{ host: "10.0.0.1", port: 8080 }]]]);
  return readRules()
    .filter(({ name }) => name === "client-certificates")
    .flatMap((file) =>
      file.cases.map((one) => ({
        key: `rule ${one.name}`,
        text: textOf(ownClasses, manifestsOf([{ ...file, cases: [one] }], ports)),
        flags: flagsOf(file),
        requests: one.requests,
      })),
    );
}

describe("Ingresses of popular charts, migrated", function () {
  // Each of a hundred cases is migrated by itself.
  this.timeout(600_000);
  const unchanged = new Map<string, TranslatedFolder>();
  let cases: readonly Case[] = [];

  before(async () => {
    cases = [...chartCases(), ...ruleCases()];
    for (const { key, text, flags } of cases) unchanged.set(key, await translated(text, flags));
  });

  const migrateCase = async ({ key, text, flags, requests }: Case, target: Target): Promise<Migrated> => {
    const before = unchanged.get(key);
    if (before === undefined) throw new Error(`${key} cannot be read`);
    const migrated = await migrateText(text, flags, target);
    const after = await translated(migrated.text, []);
    const found = requests.flatMap((request): [string, Aspects][] => {
      const [was, is] = [before, after].map((folder) => aspectsOf(explain(request, folder)));
      const aspects = compareAspects(was ?? {}, is ?? {});
      return Object.keys(aspects).length === 0 ? [] : [[request.request, aspects]];
    });
    const conflicts = after.translation.diagnostics
      .filter(({ reason }) => reason === "PolicyConflict")
      .map(({ object, message }) => `${key}: ${object.kind} ${object.name}: ${message}`);
    return { differences: Object.fromEntries(found), report: migrated.report, conflicts };
  };

  for (const [name, target] of Object.entries(targets)) {
    it(`explanations of requests agree before and after a migration to ${name}, but for what the report names`, async () => {
      const compared: ComparedCase[] = [];
      const withoutEffect: string[] = [];
      for (const one of cases) {
        const { differences, report, conflicts } = await migrateCase(one, target);
        withoutEffect.push(...conflicts);
        compared.push({ key: one.key, differences, settings: changedSettings(report) });
      }
      expectAgreement(name, compared);
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

function aspectsOf({ reply, upstream, route, clients }: Answer): Aspects {
  const [sent] = upstream;
  const fields = Object.fromEntries(
    (sent?.headers ?? []).map(({ name, value }) => [`field ${name.toLowerCase()}`, value]),
  );
  return {
    answer: reply.by === "backend" ? "backend" : String(reply.status ?? reply.by),
    ...(reply.location !== undefined && { location: reply.location }),
    ...(clients && {
      clients: [clients.need, clients.status, clients.byRequest ? "by request" : ""].join(" "),
    }),
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
