/**
 * The rules of ingress-nginx, each with a few Ingresses and the answers that it leads to. Each file of the folder `rules` is
 * served by one gateway; each case has a namespace and a host of its own, both by its name.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { CorpusRequest, Reply } from "./cases.ts";

const folder = fileURLToPath(new URL("rules", import.meta.url));

type RuleIngress = {
  /** `i` and the place in the list, when absent. */
  readonly name?: string;
  readonly namespace?: string;
  /** The annotations, without the prefix of ingress-nginx. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The host of the case when absent; `*` for a rule without host. */
  readonly host?: string;
  /** `Prefix /a`, `/a` of the type ImplementationSpecific; `-> other` names another Service than `app`, `:81` another port. */
  readonly paths?: readonly string[];
  /** The paths by host, instead of `host` and `paths`. */
  readonly rules?: Readonly<Record<string, readonly string[]>>;
  /** The `tls` of the Ingress. `true`: the host with a certificate for it. */
  readonly tls?: true | readonly object[];
  readonly defaultBackend?: string;
};

/** A request as in the corpus, or in short: a request with its status, or with the path upstream, or `refused`. */
type Asked = CorpusRequest | Readonly<Record<string, number | string | Omit<CorpusRequest, "request">>>;

type WrittenCase = {
  /** Namespace and first label of the host. */
  readonly name: string;
  /** The rule as a sentence. */
  readonly rule: string;
  readonly ingress: RuleIngress | readonly RuleIngress[];
  readonly objects?: readonly object[];
  /** Codes of the findings about objects of the case, each once; none when absent. */
  readonly findings?: readonly string[];
  readonly ask?: readonly Asked[];
};

export type RuleCase = {
  readonly name: string;
  readonly rule: string;
  readonly objects: readonly object[];
  readonly findings: readonly string[];
  readonly requests: readonly CorpusRequest[];
};

export type RuleFile = {
  readonly name: string;
  readonly flags: readonly string[];
  /** The ConfigMap of ingress-nginx. */
  readonly config: Readonly<Record<string, string>>;
  /** Further objects. */
  readonly objects: readonly object[];
  /** Services with fixed answers. */
  readonly replies: Readonly<Record<string, readonly Reply[]>>;
  readonly cases: readonly RuleCase[];
};

type WrittenFile = Partial<Omit<RuleFile, "name" | "cases">> & { readonly cases: readonly WrittenCase[] };

export const hostOf = (name: string): string => `${name}.example`;

/** The name of the Secret with the certificate of a case. */
export const certificateName = "certificate";

export const readRules = (): readonly RuleFile[] =>
  readdirSync(folder).map((file) => {
    const written = parse(readFileSync(join(folder, file), "utf8")) as WrittenFile;
    const { flags = [], config = {}, objects = [], replies = {}, cases } = written;
    const name = file.replace(".yaml", "");
    return { name, flags, config, objects, replies, cases: cases.map(readCase) };
  });

/** Files with the same settings, which one gateway serves. */
export function together(files: readonly RuleFile[]): readonly (readonly RuleFile[])[] {
  const groups = new Map<string, RuleFile[]>();
  for (const file of files) {
    const key = JSON.stringify([file.flags, file.config]);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()];
}

function readCase({ name, rule, ingress, objects = [], findings = [], ask = [] }: WrittenCase): RuleCase {
  const all = Array.isArray(ingress) ? (ingress as readonly RuleIngress[]) : [ingress as RuleIngress];
  return {
    name,
    rule,
    objects: [...all.map((one, index) => ingressOf(one, index, name)), ...objects],
    findings,
    requests: ask.map((one) => readRequest(one, name)),
  };
}

function readRequest(one: Asked, name: string): CorpusRequest {
  if ("request" in one) return withUrl(one as CorpusRequest, name);
  const [[request, answer] = ["", 0]] = Object.entries(one);
  if (typeof answer === "number" || answer === "refused") return withUrl({ request, status: answer }, name);
  if (typeof answer === "string") return withUrl({ request, status: 200, path: answer }, name);
  return withUrl({ ...answer, request }, name);
}

/** `GET /x` and `GET https:/x` are for the host of the case. */
const withUrl = (one: CorpusRequest, name: string): CorpusRequest => ({
  ...one,
  request: one.request.replace(
    /^(\S+) (https?:)?(\/(?!\/))/,
    (_, method: string, scheme = "http:") => `${method} ${scheme}//${hostOf(name)}/`,
  ),
});

function ingressOf(one: RuleIngress, index: number, caseName: string): object {
  const { name = `i${index}`, namespace = caseName, annotations = {}, tls, defaultBackend } = one;
  const rules = one.rules ?? { [one.host ?? hostOf(caseName)]: one.paths ?? ["Prefix /"] };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name,
      namespace,
      creationTimestamp: `2024-01-${String(index + 1).padStart(2, "0")}T00:00:00Z`,
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [
          key.includes("/") ? key : `nginx.ingress.kubernetes.io/${key}`,
          value,
        ]),
      ),
    },
    spec: {
      ingressClassName: "nginx",
      ...(tls === true && { tls: [{ hosts: [hostOf(caseName)], secretName: certificateName }] }),
      ...(typeof tls === "object" && { tls }),
      ...(defaultBackend !== undefined && { defaultBackend: backendOf(defaultBackend) }),
      rules: Object.entries(rules).map(([host, paths]) => ({
        ...(host !== "*" && { host }),
        http: { paths: paths.map(pathOf) },
      })),
    },
  };
}

function backendOf(text: string): object {
  const [name, port = "80"] = text.split(":");
  return { service: { name, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } } };
}

function pathOf(text: string): object {
  const [match = "", service = "app"] = text.split(" -> ");
  const [, pathType = "ImplementationSpecific", path] =
    /^(?:(Exact|Prefix|ImplementationSpecific) )?(.*)$/.exec(match) ?? [];
  return { path, pathType, backend: backendOf(service) };
}
