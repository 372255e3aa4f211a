/**
 * The corpus: Ingresses as popular charts and the documentation of ingress-nginx make them. Each folder has the manifests, and
 * requests that must be answered as ingress-nginx answered them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { pemOf } from "./client-identities.ts";

/**
 * `corpus`: one gateway serves all cases, each in the namespace of its name. `documentation`: the examples of ingress-nginx's
 * documentation, unchanged, so that cases share hosts. Objects without a namespace are applied to that of their case.
 */
type CorpusFolder = "corpus" | "documentation";

/** By name of the field: its value, a regular expression between slashes, or null if it must be absent. */
export type ExpectedFields = Readonly<Record<string, string | null>>;

/** One request, and the expectations of its answer. Properties that are absent are not compared. */
export type CorpusRequest = {
  /** Method and URL. `WEBSOCKET` and `GRPC` can replace the method. */
  readonly request: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `name:password` of Basic authentication. */
  readonly user?: string;
  /** The identity of client-identities.ts whose certificate is shown over TLS. */
  readonly certificate?: string;
  /** The length of its body. */
  readonly bytes?: number;
  /** How often it is sent; each answer must be as expected. */
  readonly times?: number;
  /** All answers are from the same endpoint. */
  readonly same?: boolean;
  /** `refused`: 403, or 503 where the gateway cannot tell how much was closed. */
  readonly status?: number | "refused";
  /** The status of at least one of the answers. */
  readonly some?: number;
  /** Whether ingress-nginx implements the expected behaviour in Lua, so that nginx alone cannot show it. */
  readonly needsLua?: boolean;
  /** The status that ingress-nginx gives, where this gateway does better on purpose. */
  readonly nginxStatus?: number;
  /** The Service that answers. */
  readonly from?: string;
  /** The path with query that the Service sees. */
  readonly path?: string;
  /** The fields that the Service sees. */
  readonly upstream?: ExpectedFields;
  /** The fields that the client sees. */
  readonly response?: ExpectedFields;
};

/** An answer of a Service in place of the usual one, for requests with these fields. */
export type Reply = {
  readonly when?: Readonly<Record<string, string>>;
  /** How often the reply is given; if absent, always. */
  readonly times?: number;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
};

export type CorpusCase = {
  readonly name: string;
  readonly manifests: string;
  readonly objects: readonly CorpusObject[];
  readonly backends: {
    /** Services that speak TLS with a self-signed certificate. */
    readonly tls?: readonly string[];
    /** Services that no path names. */
    readonly services?: readonly string[];
    readonly replies?: Readonly<Record<string, readonly Reply[]>>;
  };
  /** Codes of what `check` finds about its objects, each once; compared for the documentation only. */
  readonly findings: readonly string[];
  readonly requests: readonly CorpusRequest[];
};

type ServiceBackend = {
  readonly service: {
    readonly name: string;
    readonly port: { readonly name?: string; readonly number?: number };
  };
};

/** The parts of an object that are read here. */
export type CorpusObject = {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly stringData?: Readonly<Record<string, string>>;
  /** The entries of a ConfigMap. */
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly defaultBackend?: ServiceBackend;
    readonly tls?: readonly { readonly hosts: readonly string[]; readonly secretName?: string }[];
    readonly rules?: readonly {
      readonly host: string;
      readonly http: {
        readonly paths: readonly {
          /** The path; `/` if absent. */
          readonly path?: string;
          readonly pathType: string;
          readonly backend: ServiceBackend;
        }[];
      };
    }[];
  };
};

const known = new Set<string>([
  "request",
  "headers",
  "user",
  "certificate",
  "bytes",
  "times",
  "status",
  "some",
  "same",
  "needsLua",
  "nginxStatus",
  "from",
  "path",
  "upstream",
  "response",
] satisfies readonly (keyof CorpusRequest)[]);

/** Reads the corpus; a misspelt expectation would expect nothing, so it is an error. */
export function readCorpus(of: CorpusFolder = "corpus"): readonly CorpusCase[] {
  const folder = fileURLToPath(new URL(of, import.meta.url));
  return readdirSync(folder).map((name) => {
    const manifests = withAuthority(readFileSync(join(folder, name, "manifests.yaml"), "utf8"));
    const objects = parseAllDocuments(manifests).map((one) => inNamespace(one.toJS() as CorpusObject, name));
    const {
      backends = {},
      findings = [],
      requests,
    } = parse(readFileSync(join(folder, name, "requests.yaml"), "utf8")) as Partial<
      Pick<CorpusCase, "backends" | "findings">
    > &
      Pick<CorpusCase, "requests">;
    const unknown = requests.flatMap((one) => Object.keys(one)).filter((key) => !known.has(key));
    if (unknown.length > 0) throw new Error(`corpus/${name}/requests.yaml: unknown ${unknown.join(", ")}`);
    return { name, manifests, objects, backends, findings, requests };
  });
}

/** `"${pem:authority}"` is the authority of the clients with certificates. */
const withAuthority = (manifests: string): string =>
  manifests.replaceAll("${pem:authority}", JSON.stringify(pemOf("authority")).slice(1, -1));

const inNamespace = (object: CorpusObject, namespace: string): CorpusObject => ({
  ...object,
  metadata: { ...{ namespace }, ...object.metadata },
});

/** The Services that paths and default backends name, with the ports by which they name them. */
export function servicesOf({
  objects,
  backends,
}: CorpusCase): ReadonlyMap<string, readonly (string | number)[]> {
  const ports = new Map<string, Set<string | number>>();
  const add = (name: string, port: string | number): void => {
    ports.set(name, (ports.get(name) ?? new Set()).add(port));
  };
  for (const { spec } of objects) {
    const paths = (spec?.rules ?? []).flatMap(({ http }) => http.paths);
    for (const { service } of [
      ...paths.map(({ backend }) => backend),
      ...(spec?.defaultBackend ? [spec.defaultBackend] : []),
    ]) {
      add(service.name, service.port.name ?? service.port.number ?? 80);
    }
  }
  for (const name of backends.services ?? []) add(name, 80);
  return new Map([...ports].map(([name, found]) => [name, [...found]]));
}
