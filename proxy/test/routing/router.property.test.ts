import type { RouteMatch, ValueMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { RouteQuery } from "../../src/exchange/route-query.ts";
import { explainMatch } from "../../src/routing/explain.ts";
import { portTable, route, type HostCase } from "./support.ts";
import { Fields } from "../../src/message/fields.ts";

/** Worlds are small so that routes and requests meet often. */
const segment = fc.constantFrom("a", "b", "ab", "", "%c3", "%C3");
const path = fc
  .tuple(fc.array(segment, { maxLength: 4 }), fc.constantFrom("", "/"))
  .map(([segments, end]) => `/${segments.join("/")}${end}`);
const value = fc.constantFrom("1", "2", "12");
const expression = fc.constantFrom("1", "^1$", "[12]+", "^2", "^$");

const valueMatch = (names: readonly string[]): fc.Arbitrary<ValueMatch> =>
  fc.oneof(
    fc.record({ name: fc.constantFrom(...names), type: fc.constant("exact" as const), value }),
    fc.record({ name: fc.constantFrom(...names), type: fc.constant("regex" as const), value: expression }),
  );

const match: fc.Arbitrary<RouteMatch> = fc.record(
  {
    path: fc.oneof(
      { weight: 2, arbitrary: fc.record({ type: fc.constant("exact" as const), value: path }) },
      { weight: 4, arbitrary: fc.record({ type: fc.constant("prefix" as const), value: path }) },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant("regex" as const),
          value: fc.constantFrom("/a", "^/b", "/ab$", "/a/.*b", "/[ab]+"),
          whole: fc.boolean(),
        }),
      },
    ),
    method: fc.constantFrom("GET", "POST"),
    headers: fc.array(valueMatch(["x-a", "x-b"]), { maxLength: 2 }),
    query: fc.array(valueMatch(["a", "b"]), { maxLength: 2 }),
  },
  { requiredKeys: ["path"] },
);

const patterns = ["a.b.c", "b.c", "*.b.c", "*.c", "*"] as const;

const world: fc.Arbitrary<readonly HostCase[]> = fc
  .uniqueArray(
    fc.record({
      group: fc.constantFrom("gateway" as const, "ingress" as const),
      host: fc.constantFrom(...patterns),
      listener: fc.constantFrom("l1", "l2"),
      inherit: fc.boolean(),
      matches: fc.array(fc.tuple(match, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 2 })), {
        // Hosts of few routes and of many are looked up in different ways.
        maxLength: 14,
      }),
    }),
    { maxLength: 8, selector: ({ group, host }) => `${group} ${host}` },
  )
  .map((hosts) =>
    hosts.map(({ matches, ...host }) => ({
      ...host,
      routes: matches.map(([one, kind, tier], index) => ({
        ...route(`${host.group} ${host.host} ${index}`, one),
        ...(kind === 0 ? { fallback: true as const } : {}),
        ...(tier > 0 ? { tier } : {}),
      })),
    })),
  );

const query: fc.Arbitrary<RouteQuery> = fc.record({
  host: fc.constantFrom("a.b.c", "b.c", "x.b.c", "x.a.b.c", "c", ""),
  path,
  query: fc
    .array(fc.tuple(fc.constantFrom("a", "b"), value), { maxLength: 2 })
    .map((pairs) => (pairs.length === 0 ? "" : `?${pairs.map((pair) => pair.join("=")).join("&")}`)),
  method: fc.constantFrom("GET", "POST"),
  authority: fc.constantFrom("a.b.c", ""),
  headers: fc
    .array(fc.tuple(fc.constantFrom("X-A", "x-b"), value), { maxLength: 3 })
    .map((pairs) => Fields.of(pairs.flat())),
});

/** The winner by the routing rules, read sequentially without any index. */
function obviousWinner(hosts: readonly HostCase[], request: RouteQuery): string | undefined {
  const covering = hosts
    .filter((host) => covers(host, request.host))
    .toSorted((a, b) => specificity(b) - specificity(a) || (a.group < b.group ? -1 : 1));
  const [owner] = covering;
  for (const host of covering.filter(({ listener }) => listener === owner?.listener)) {
    const winner = host.routes
      .filter(({ match: wanted }) => pathFits(wanted, request.path) && conditionsHold(wanted, request))
      .toSorted((a, b) => (a.tier ?? 0) - (b.tier ?? 0) || rankOf(b) - rankOf(a))[0];
    if (winner !== undefined) return winner.id;
    if (!host.inherit) return undefined;
  }
  return undefined;
}

function covers({ group, host }: HostCase, name: string): boolean {
  if (host === "*") return true;
  if (!host.startsWith("*.")) return host === name;
  const labels = name.split(".");
  const suffix = host.slice(2).split(".");
  const extra = labels.length - suffix.length;
  if (group === "ingress" ? extra !== 1 : extra < 1) return false;
  return labels.slice(extra).join(".") === suffix.join(".");
}

const specificity = ({ host }: HostCase): number =>
  host === "*" ? 0 : host.startsWith("*.") ? host.length : 1000;

const withoutCase = (text: string): string => text.replaceAll("%c3", "%C3");

function pathFits({ path: wanted }: RouteMatch, actual: string): boolean {
  if (wanted.type === "exact") return withoutCase(wanted.value) === withoutCase(actual);
  if (wanted.type === "regex") {
    return new RegExp(wanted.whole === true ? `^(?:${wanted.value})$` : wanted.value).test(actual);
  }
  const wantedSegments = withoutCase(wanted.value).replace(/\/$/, "").split("/");
  const segments = withoutCase(actual).split("/");
  return wantedSegments.every((one, index) => segments[index] === one);
}

function rankOf({ match: { path: wanted }, fallback }: Route): number {
  if (fallback === true) return -1;
  if (wanted.type === "exact") return 1000;
  return wanted.type === "prefix" ? 1 + wanted.value.replace(/\/$/, "").length : 0;
}

function conditionsHold(wanted: RouteMatch, request: RouteQuery): boolean {
  const headers = new Map<string, string>();
  for (const [spelled, text] of request.headers.pairs()) {
    const name = spelled.toLowerCase();
    const known = headers.get(name);
    headers.set(name, known === undefined ? text : `${known},${text}`);
  }
  const parameters = new URLSearchParams(request.query);
  const fits = ({ type, value: text }: ValueMatch, actual: string | null | undefined): boolean =>
    actual !== null &&
    actual !== undefined &&
    (type === "exact" ? actual === text : new RegExp(text).test(actual));
  return (
    (wanted.method === undefined || wanted.method === request.method) &&
    (wanted.headers ?? []).every((header) => fits(header, headers.get(header.name))) &&
    (wanted.query ?? []).every((parameter) => fits(parameter, parameters.get(parameter.name)))
  );
}

describe("the router", () => {
  it("the router finds the route that the rules give when read one after the other", () => {
    let matched = 0;
    fc.assert(
      fc.property(world, fc.array(query, { minLength: 5, maxLength: 20 }), (hosts, requests) => {
        const table = portTable(hosts);
        for (const request of requests) {
          const winner = table.match(request)?.id;
          if (winner !== undefined) matched++;
          expect(winner).to.equal(obviousWinner(hosts, request));
        }
      }),
      { numRuns: 1500 },
    );
    expect(matched).to.be.greaterThan(1000);
  });

  it("every lookup is explained by verdicts that agree with it", () => {
    fc.assert(
      fc.property(world, fc.array(query, { minLength: 5, maxLength: 10 }), (hosts, requests) => {
        const table = portTable(hosts);
        for (const request of requests) {
          const winner = table.match(request);
          const explanation = explainMatch(table, request);
          expect(explanation.route).to.equal(winner);
          const serving = explanation.hosts.filter(({ outcome }) => outcome === "serves");
          expect(serving.length).to.equal(winner === undefined ? 0 : 1);
          for (const { outcome, candidates } of explanation.hosts) {
            const verdicts = candidates.map(({ verdict }) => verdict.kind);
            const first = verdicts.findIndex((kind) => kind !== "failed");
            if (outcome === "serves") {
              expect(verdicts[first]).to.equal("matched");
              expect(candidates[first]?.route).to.equal(winner);
              expect(verdicts.lastIndexOf("matched")).to.equal(first);
            } else {
              expect(first).to.equal(-1);
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
