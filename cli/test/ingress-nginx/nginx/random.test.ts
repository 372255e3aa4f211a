import { expect } from "chai";
import fc from "fast-check";
import { withGateway } from "../../standalone/gateway.ts";
import { send, type Answer, type Ports } from "../ask.ts";
import { startBackends } from "../backends.ts";
import type { CorpusCase, CorpusObject } from "../cases.ts";
import { clusterObjects, nginxFlags } from "../cluster.ts";
import { nginxConfig } from "./config.ts";
import { hasNginx, withNginx } from "./process.ts";
import { sitesOf } from "./sites.ts";

const prefix = "nginx.ingress.kubernetes.io/";
const namespace = "random";
const services = ["one", "two", "three"];

const literalPaths = ["/", "/a", "/a/b", "/ab", "/A/b", "/b", "/x/a/c", "/foo", "/a.b"];
const regexPaths = [
  ...["/a/[0-9]+", "/a(/|$)(.*)", "/(.*)", "/a.b", "/a|/b", "/b$", "/a/?(.*)", "/x/(a|b)/c"],
  ...["/.*/b", "/f.o.", "/(a|b)(.*)", "/a/(.+)", "/A", "/[ab]/", "/x/(?<name>[a-z]+)", "/a/\\d{1,2}$"],
];
const targets = ["/", "/$1", "/$2", "/new/$1", "/new", "/a", "/$1/$2", "/n/$2$3"];

// No empty query and no escape of a letter: this gateway sends both upstream in their canonical form.
const requestTargets = [
  ...["/", "/a", "/a/", "/a/b", "/ab", "/A", "/A/B", "/a/1", "/a/12x", "/b", "/bc", "/c/a", "/c/b", "/B"],
  ...["/a/b?x=1&y=%20", "/a%20c", "/a/%C3%A9", "/a/%3Fq", "/x/a/c", "/x/b/c/d", "/axb", "/a;v=1"],
  ...["/foo", "/foo/", "/foo/x", "/foox", "/FOO", "/a/b/c", "/a+b", "/a/%2B", "/a/b%23", "/x/ab/c"],
];

const annotations = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constant({ "use-regex": "true" }) },
  { weight: 2, arbitrary: fc.constantFrom(...targets).map((target) => ({ "rewrite-target": target })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...targets)
      .map((target) => ({ "rewrite-target": target, "use-regex": "true" })),
  },
);

const ingress = annotations.chain((given) => {
  const isPlain = Object.keys(given).length === 0;
  const path = fc.record({
    path: fc.constantFrom(...literalPaths, ...(isPlain ? [] : regexPaths)),
    pathType: fc.constantFrom("Prefix", "ImplementationSpecific", "Exact"),
    service: fc.constantFrom(...services),
  });
  return fc.record({
    given: fc.constant(given),
    paths: fc.uniqueArray(path, { minLength: 1, maxLength: 4, selector: (one) => one.path }),
  });
});

/** The Ingresses of each host; equal paths of two Ingresses are tested elsewhere. */
const hosts = fc.array(ingress, { minLength: 1, maxLength: 3 }).map((all) => {
  const seen = new Set<string>();
  return all
    .map((one) => ({
      ...one,
      paths: one.paths.filter(({ path }) => !seen.has(path) && seen.add(path) !== undefined),
    }))
    .filter(({ paths }) => paths.length > 0);
});

type Host = typeof hosts extends fc.Arbitrary<infer Value> ? Value : never;

function objectsOf(all: readonly Host[]): readonly CorpusObject[] {
  return all.flatMap((ingresses, host) =>
    ingresses.map(({ given, paths }, index) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name: `h${host}-${index}`,
        namespace,
        creationTimestamp: `2024-01-0${index + 1}T00:00:00Z`,
        annotations: Object.fromEntries(Object.entries(given).map(([key, value]) => [prefix + key, value])),
      },
      spec: {
        ingressClassName: "nginx",
        rules: [
          {
            host: `h${host}.example`,
            http: {
              paths: paths.map(({ path, pathType, service }) => ({
                ...{ path, pathType },
                backend: { service: { name: service, port: { number: 80 } } },
              })),
            },
          },
        ],
      },
    })),
  );
}

const shown = ({ status, from, seen }: Answer): string =>
  from === undefined ? String(status) : `${status} ${from} ${seen?.path}`;

async function answers(ports: Ports, requests: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const request of requests) found.push(shown(await send(ports, { request })));
  return found;
}

describe("nginx and this gateway", () => {
  it("random Ingresses with and without regular expressions get the same answers", async function () {
    if (!hasNginx()) return void this.skip();
    const all = fc.sample(hosts, 60);
    const objects = objectsOf(all);
    const one: CorpusCase = {
      name: namespace,
      manifests: "",
      objects,
      backends: {},
      findings: [],
      requests: [],
    };
    const backends = await startBackends(one);
    const requests = all.flatMap((_, host) =>
      requestTargets.map((target) => `GET http://h${host}.example${target}`),
    );
    const items = [...clusterObjects, ...objects, ...backends.objects];
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const writtenOf = (request: string): string =>
      JSON.stringify(all[Number(/\/h(\d+)\./.exec(request)?.[1])]);
    try {
      let expected: readonly string[] = [];
      const addressOf = (_: string, service: string): string => `127.0.0.1:${backends.ports.get(service)}`;
      await withNginx(
        (folder, ports) =>
          nginxConfig(sitesOf(one), {
            ...{ ...ports, folder, addressOf },
            certificateOf: () => undefined,
            usersOf: () => "",
            authorityOf: () => "",
          }),
        async (ports) => {
          expected = await answers(ports, requests);
        },
      );
      await withGateway({ manifests: { "all.json": list }, flags: nginxFlags }, async (gateway) => {
        const found = await answers(gateway, requests);
        const differences = requests.flatMap((request, index) =>
          found[index] === expected[index]
            ? []
            : [`${request}: ${expected[index]}, here ${found[index]}; ${writtenOf(request)}`],
        );
        expect(differences).to.deep.equal([]);
      });
    } finally {
      await backends.close();
    }
  });
});
