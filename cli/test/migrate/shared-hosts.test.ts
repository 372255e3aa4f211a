/** Tests that a request gets the same answer before and after a migration of several Ingresses of one host. */
import { expect } from "chai";
import fc from "fast-check";
import { answerRequest, type Answer } from "../../src/explain/answer.ts";
import { readRequest } from "../../src/explain/request.ts";
import { joinDocuments } from "../../src/migrate/manifest-texts.ts";
import type { MigrationRow } from "../../src/migrate/migration-report.ts";
import { translateFolder, type TranslatedFolder } from "../../src/translate-folder.ts";
import { nginxFlags } from "../ingress-nginx/cluster.ts";
import { ingressObjects, type IngressCase } from "../ingress-nginx/explained.ts";
import { inputOf, migrateText, nowMs, ownClasses, settingsOf, targets } from "../ingress-nginx/migrated.ts";
import { tlsSecret } from "../ingress-nginx/tls-secret.ts";

const host = "a.example";
const secrets = ["shop", "other"].map((namespace) => tlsSecret("tls", [host], namespace));
const tls = [{ hosts: [host], secretName: "tls" }];

const paths = [
  "/",
  "/a",
  "/A/b",
  "/a/b/c",
  "/ab",
  "/b",
  "/b/a/",
  "/p",
  "/.well-known/acme-challenge/t",
  "/x/y",
];
const urls = [
  ...paths.map((path) => `http://${host}${path}`),
  ...["/a/b/c", "/b", "/p"].map((path) => `https://${host}${path}`),
];

type Compared = {
  /** The requests whose answers differ without a row of the report that names the reason. */
  readonly unexplained: readonly string[];
  readonly rows: readonly MigrationRow[];
  readonly answers: Readonly<Record<string, string>>;
};

async function translated(text: string, flags: readonly string[]): Promise<TranslatedFolder> {
  const folder = await translateFolder(["-"], settingsOf(flags), inputOf(text), nowMs);
  if (!folder.ok) throw new Error(folder.error.join("\n"));
  return folder.value;
}

function ask(url: string, folder: TranslatedFolder): Answer {
  const request = readRequest("GET", url, []);
  if (!request.ok) throw new Error(request.error.message);
  return answerRequest(request.value, folder, []);
}

function say({ reply, upstream: [sent], outcome }: Answer): string {
  if (reply.by === "backend") return `${sent?.service ?? ""} ${sent?.target ?? ""}`;
  return `${outcome === "no-certificate" ? outcome : (reply.status ?? reply.by)} ${reply.location ?? ""}`.trim();
}

/** Migrates Ingresses, each of its own namespace, and compares the answers. */
async function compare(cases: readonly IngressCase[], targetName: string): Promise<Compared> {
  const target = targets[targetName];
  if (target === undefined) throw new Error("no such target");
  const named = cases.map((one, at): IngressCase => ({ host, service: `s${at}`, ...one }));
  const objects = [...ownClasses, ...secrets, ...ingressObjects(named)];
  const text = joinDocuments(objects.map((object) => `${JSON.stringify(object)}\n`));
  const before = await translated(text, nginxFlags);
  const migrated = await migrateText(text, nginxFlags, target);
  const after = await translated(migrated.text, []);
  const { rows } = migrated.report;
  const answers: Record<string, string> = {};
  const unexplained = urls.flatMap((url) => {
    const [was, is] = [ask(url, before), ask(url, after)];
    const [said, now] = [say(was), say(is)];
    answers[url] = now;
    if (said === now) return [];
    const source = was.route?.source;
    const ingress = source && `${source.namespace}/${source.name}`;
    const isNamed = rows.some(
      (row) => row.ingress === ingress && row.texts.some((one) => canCause(one, was)),
    );
    return isNamed ? [] : [`${url}: ${said} -> ${now}`];
  });
  return { unexplained, rows, answers };
}

/** Texts of the report about differences that only some of the requests, or none of them, have. */
const limited: readonly (readonly [RegExp, (before: Answer) => boolean])[] = [
  [/^Paths are compared as clients write them/, () => false],
  [/^Bodies are measured after/, () => false],
  [/comes after address rules/, () => false],
  [/keeps a slash at the end/, ({ request }) => request.path.endsWith("/")],
  [/names the public port/, () => false],
  [/no rule names are answered 404/, ({ route }) => route?.id.endsWith(":rest") === true],
];

const canCause = (text: string, before: Answer): boolean =>
  limited.find(([beginning]) => beginning.test(text))?.[1](before) ?? true;

const ingresses = fc.array(
  fc.record({
    namespace: fc.constantFrom("shop", "shop", "other"),
    day: fc.integer({ min: 1, max: 3 }),
    annotations: fc.record(
      {
        "ssl-redirect": fc.constantFrom("true", "false"),
        "permanent-redirect": fc.constant("https://r.example/p"),
        "use-regex": fc.constant("true"),
        "rewrite-target": fc.constantFrom("/new", "/$1"),
      },
      { requiredKeys: [] },
    ),
    paths: fc.uniqueArray(
      fc.constantFrom(
        ...["Prefix /", "Prefix /a", "Prefix /a/b", "Exact /a", "Prefix /p", "/b", "/(.*)", "/a(/|$)(.*)"],
        ...["/a|/b", "Exact /.well-known/acme-challenge/t"],
      ),
      { minLength: 1, maxLength: 3 },
    ),
    tls: fc.constantFrom(tls, []),
  }),
  { minLength: 2, maxLength: 3 },
);

describe("migrate: several Ingresses of one host", () => {
  const redirecting: IngressCase = { annotations: { "use-regex": "true" }, paths: ["/b"], tls };

  it("redirects of one Ingress to https leave the paths of others as they were, as routes of the Gateway API", async () => {
    const plain: IngressCase = { annotations: { "ssl-redirect": "false" }, paths: ["Prefix /a"] };
    const moved: IngressCase = {
      annotations: { "permanent-redirect": "https://r.example/p" },
      paths: ["Prefix /p"],
    };
    const { answers, unexplained } = await compare([redirecting, plain, moved], "gateway-api");
    expect(answers).to.include({
      "http://a.example/a": "shop/s1 /a",
      "http://a.example/p": "301 https://r.example/p",
      "http://a.example/b": "308 https://a.example/b",
    });
    expect(unexplained).to.deep.equal([]);
  });

  it("the path of an ACME challenge is served beside redirects to https, as routes of the Gateway API", async () => {
    const challenge: IngressCase = { paths: ["Exact /.well-known/acme-challenge/t"] };
    const { answers } = await compare([redirecting, challenge], "gateway-api");
    expect(answers).to.include({
      "http://a.example/.well-known/acme-challenge/t": "shop/s1 /.well-known/acme-challenge/t",
    });
  });

  it("a default backend comes after the regular expressions of another Ingress, as routes of the Gateway API", async () => {
    const expression: IngressCase = { annotations: { "use-regex": "true" }, rules: { "*": ["/b"] } };
    const fallback: IngressCase = { rules: {}, service: "s1", defaultBackend: "s1" };
    const { answers } = await compare([expression, fallback], "gateway-api");
    expect(answers).to.include({
      "http://a.example/b": "shop/s0 /b",
      "http://a.example/p": "shop/s1 /p",
    });
  });

  it("a prefix precedes the regular expression of another namespace, as routes of the Gateway API", async () => {
    const owner: IngressCase = { paths: ["Prefix /a"] };
    const guest: IngressCase = {
      namespace: "other",
      annotations: { "rewrite-target": "/x/$1" },
      paths: ["/a/?(.*)"],
    };
    const { answers, unexplained } = await compare([owner, guest], "gateway-api");
    expect(answers).to.include({ "http://a.example/a/b/c": "shop/s0 /a/b/c" });
    expect(unexplained).to.deep.equal([]);
  });

  it("a prefix that precedes the regular expression of another namespace only afterwards is lost", async () => {
    const owner: IngressCase = { paths: ["Prefix /"] };
    const guest: IngressCase = {
      namespace: "other",
      annotations: { "rewrite-target": "/x/$1" },
      paths: ["/a/(.*)"],
    };
    const { answers, rows } = await compare([owner, guest], "gateway-api");
    expect(answers).to.include({ "http://a.example/a/b/c": "shop/s0 /a/b/c" });
    const lost = rows.filter(({ outcome }) => outcome === "lost").map(({ ingress }) => ingress);
    expect(lost).to.include.members(["shop/i0", "other/i1"]);
  });

  for (const target of Object.keys(targets)) {
    it(`a migration to ${target} changes no answer, or its report names the reason`, async () => {
      await fc.assert(
        fc.asyncProperty(ingresses, async (cases) => {
          const { unexplained } = await compare(cases, target);
          expect(unexplained).to.deep.equal([]);
        }),
        { numRuns: Number(process.env["RUNS"] ?? 20) },
      );
    });
  }
});
