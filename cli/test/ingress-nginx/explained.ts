/** Explains requests for Ingresses of ingress-nginx with the code of the data plane, without sockets. */
import { Readable } from "node:stream";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import { expect } from "chai";
import { readFolderFlags, translationFlags } from "../../src/command-flags.ts";
import { answerRequest, type Answer } from "../../src/explain/answer.ts";
import { readRequest } from "../../src/explain/request.ts";
import { translateFolder, type TranslatedFolder } from "../../src/translate-folder.ts";

export type IngressCase = {
  readonly name?: string;
  readonly namespace?: string;
  /** The Service of all its paths; `echo` when absent. */
  readonly service?: string;
  /** The day of January on which it was created; the place in the list when absent. */
  readonly day?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** The annotations, without the prefix of ingress-nginx. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Paths of one host, or of several: `Prefix /a`, of the type ImplementationSpecific without a word before it. */
  readonly host?: string;
  readonly paths?: readonly string[];
  readonly rules?: Readonly<Record<string, readonly string[]>>;
  readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[];
  /** `nginx` when absent. */
  readonly className?: string;
  readonly defaultBackend?: string;
};

/** The result of a request, in a word or two. */
export type Result = {
  /** The path with query that a backend gets. */
  readonly target?: string;
  readonly status?: number;
  readonly location?: string;
  /** The path of the route as it is written, or its id. */
  readonly route?: string;
};

export type Explained = {
  readonly folder: TranslatedFolder;
  readonly findings: readonly Diagnostic[];
  /** Codes of the findings with the names of their objects: `NoEffect shop/a`. */
  readonly codes: readonly string[];
  ask(url: string, method?: string): Result;
  answer(url: string, method?: string, fields?: readonly string[]): Answer;
};

const prefix = "nginx.ingress.kubernetes.io/";

function pathOf(text: string, service: string): object {
  const [first = "", second] = text.split(" ");
  const [pathType, path] = second === undefined ? ["ImplementationSpecific", first] : [first, second];
  return { path, pathType, backend: { service: { name: service, port: { number: 80 } } } };
}

function ingressOf(one: IngressCase, index: number): object {
  const { name = `i${index}`, namespace = "shop", annotations = {}, host = "a.example", paths = [] } = one;
  const rules = one.rules ?? { [host]: paths };
  const day = String(one.day ?? index + 1).padStart(2, "0");
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name,
      namespace,
      creationTimestamp: `2024-01-${day}T00:00:00Z`,
      ...(one.labels && { labels: one.labels }),
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [
          key.includes("/") ? key : `${prefix}${key}`,
          value,
        ]),
      ),
    },
    spec: {
      ingressClassName: one.className ?? "nginx",
      ...(one.tls && { tls: one.tls }),
      ...(one.defaultBackend !== undefined && {
        defaultBackend: { service: { name: one.defaultBackend, port: { number: 80 } } },
      }),
      rules: Object.entries(rules).map(([ruleHost, ofHost]) => ({
        ...(ruleHost !== "*" && { host: ruleHost }),
        http: { paths: ofHost.map((path) => pathOf(path, one.service ?? "echo")) },
      })),
    },
  };
}

const serviceOf = (namespace: string, name: string): readonly object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, namespace, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080 }],
    endpoints: [{ addresses: ["10.0.0.1"] }],
  },
];

const ownClass = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  spec: { controller: "svc-labs.dev/gateway-controller" },
};

/** Ingresses as objects, with their Services. */
export function ingressObjects(cases: readonly IngressCase[]): readonly object[] {
  const services = new Map(
    cases.map(({ namespace = "shop", service = "echo" }) => [
      `${namespace}/${service}`,
      serviceOf(namespace, service),
    ]),
  );
  return [...[...services.values()].flat(), ...cases.map(ingressOf)];
}

/** Translates Ingresses with their Services. `more`: further objects. */
export async function explainIngresses(
  cases: readonly IngressCase[],
  { more = [], flags = [] }: { readonly more?: readonly object[]; readonly flags?: readonly string[] } = {},
): Promise<Explained> {
  const objects = [ownClass, ...ingressObjects(cases), ...more];
  const text = objects.map((object) => JSON.stringify(object)).join("\n---\n");
  const argv = ["--ingress-nginx-classes", "nginx", "--port-map", "80=80,443=443", ...flags];
  const read = readFolderFlags(translationFlags, { argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  const input = (): Readable => Readable.from([text]);
  const translated = await translateFolder(["-"], read.value.settings, { input }, Date.UTC(2026, 0));
  if (!translated.ok) throw new Error(translated.error.join("\n"));
  const folder = translated.value;
  const findings = folder.translation.diagnostics;
  const answer: Explained["answer"] = (url, method = "GET", fields = []) => {
    const request = readRequest(method, url, fields);
    if (!request.ok) throw new Error(request.error.message);
    return answerRequest(request.value, folder, []);
  };
  return {
    folder,
    findings,
    codes: findings.map(({ reason, object }) => `${reason} ${object.namespace ?? ""}/${object.name}`),
    answer,
    ask(url, method) {
      const { reply, upstream, route } = answer(url, method);
      const [sent] = upstream;
      return {
        ...(sent && { target: sent.target }),
        ...(reply.status !== undefined && { status: reply.status }),
        ...(reply.location !== undefined && { location: reply.location }),
        ...(route && { route: route.id.replace("ingress/", "") }),
      };
    },
  };
}

/** Expects for each request to `a.example` the route that serves it, as `name:rule.path`, or the status. */
export async function expectRoutes(
  cases: readonly IngressCase[],
  expected: Readonly<Record<string, string | number>>,
): Promise<void> {
  const { ask } = await explainIngresses(cases);
  const found = Object.keys(expected).map((path) => {
    const { route, status } = ask(`http://a.example${path}`);
    return [path, route === undefined || status !== undefined ? status : route.replace(/^[^/]*\//, "")];
  });
  expect(Object.fromEntries(found)).to.deep.equal(expected);
}
