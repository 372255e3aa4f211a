/**
 * Finds mistakes in YAML blocks. Manifests are checked as by `svc-gateway check`, `part="Kind"` is a part of an
 * object of that kind, and `values` are values of the chart.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { createReport } from "../../cli/src/check/report.ts";
import { translationFlags, readFolderFlags } from "../../cli/src/command-flags.ts";
import { translateFolder } from "../../cli/src/translate-folder.ts";
import { textOf } from "../../common/src/values/errors.ts";
import type { Block } from "./block.ts";

const root = resolve(import.meta.dirname, "../..");
const classes = readFileSync(join(root, "config/examples/backends/standalone.yaml"), "utf8")
  .split("---\n")
  .slice(0, 2)
  .join("---\n");

/** Reasons of findings about objects that a page does not show, and about objects that no object on the page uses. */
const expected = /NotFound$|^NoValidCACertificate$/;

/** Messages of the same findings under other reasons: Services, Secrets, and the files of a certificate. */
const elsewhere =
  /^(?:Service|Secret) \S+ does not exist(?:;| or (?:is not of type|cannot be used|does not have the label))|: "certs\/\S+": the file does not exist;/;

/** One line for each mistake; empty if the block can be used unchanged. */
export async function mistakesOfYaml(block: Block): Promise<readonly string[]> {
  try {
    if (block.options.has("values")) return mistakesOfValues(parse(block.text) as object);
    const part = block.options.get("part");
    const documents = parseAllDocuments(block.text);
    const broken = documents.flatMap(({ errors }) => errors.map(({ message }) => message));
    if (broken.length > 0) return broken;
    const objects = documents.map((document) => document.toJS() as object);
    return await mistakesOfManifests(part === undefined ? objects : objects.map((one) => whole(part, one)));
  } catch (error) {
    return [textOf(error)];
  }
}

let validate: ReturnType<Ajv["compile"]> | undefined;

function mistakesOfValues(values: object): readonly string[] {
  const ajv = new Ajv({ allErrors: true, strictTuples: false, allowUnionTypes: true, strictTypes: false });
  validate ??= ajv.compile(
    JSON.parse(readFileSync(join(root, "config/chart/values.schema.json"), "utf8")) as object,
  );
  if (validate(values) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message = "" }) => `${instancePath}: ${message}`);
}

async function mistakesOfManifests(objects: readonly object[]): Promise<readonly string[]> {
  const text = [classes, ...objects.map((object) => `${JSON.stringify(object)}\n`)].join("---\n");
  const flags = readFolderFlags(translationFlags, { argv: [], env: {} });
  if (!flags.ok) return [flags.error.message];
  const io = { input: () => toStream(text) };
  const translated = await translateFolder(["-"], flags.value.settings, io, Date.now());
  if (!translated.ok) return translated.error;
  const { manifests, ignored } = await createReport(translated.value);
  return [
    ...manifests.flatMap(({ object, findings }) =>
      findings
        .filter(({ reason, severity }) => severity !== "info" && !expected.test(reason))
        .filter(({ message }) => !elsewhere.test(message))
        .map(({ reason, field = "", message }) => `${object?.kind ?? ""} ${reason} ${field}: ${message}`),
    ),
    ...ignored.map((one) => `not read: ${JSON.stringify(one)}`),
  ];
}

async function* toStream(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

type Fields = Readonly<Record<string, unknown>>;

const rules = [
  {
    host: "shop.example.com",
    http: {
      paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
    },
  },
];
const own = "gateway.svc-labs.dev/v1alpha1";
const gatewayApi = "gateway.networking.k8s.io/v1";
const listeners = [{ name: "http", port: 80, protocol: "HTTP" }];

/** The objects into which the parts of pages are merged. */
const frames: Readonly<Record<string, Fields>> = {
  Ingress: { apiVersion: "networking.k8s.io/v1", spec: { ingressClassName: "svc", rules } },
  Gateway: { apiVersion: gatewayApi, spec: { gatewayClassName: "svc", listeners } },
  HTTPRoute: { apiVersion: gatewayApi, spec: {} },
  SvcExternalAuth: { apiVersion: own },
  RetryPolicy: { apiVersion: own },
  SvcBackendPolicy: { apiVersion: own, spec: { targetRefs: [{ name: "web" }] } },
};

function whole(kinds: string, part: object): object {
  const kind = (part as { readonly kind?: string }).kind ?? kinds;
  const frame = frames[kind];
  if (frame === undefined)
    throw new Error(`part="${kind}", expected one of ${Object.keys(frames).join(", ")}`);
  return merge({ kind, metadata: { name: "web", namespace: "shop" }, ...frame }, part as Fields);
}

/** Merges maps recursively, and replaces all other values. */
function merge(base: Fields, over: Fields): Fields {
  const isMap = (value: unknown): value is Fields =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const joined = Object.entries(over).map(([key, value]) => {
    const below = base[key];
    return [key, isMap(below) && isMap(value) ? merge(below, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(joined) };
}
