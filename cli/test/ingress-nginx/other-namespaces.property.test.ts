import { expect } from "chai";
import fc from "fast-check";
import { explainIngresses, type IngressCase } from "./explained.ts";

const oneOf = fc.constantFrom;

/** Text of a path, and the same text as it may be written in a regex. */
const literals = fc
  .array(oneOf("/a", "/b", "/ab", "/A", "/v1.0", "/a-b", "/"), { maxLength: 3 })
  .map((parts) => `/${parts.join("")}`.replaceAll(/\/+/g, "/"));
const heads = fc.oneof(
  {
    arbitrary: fc
      .tuple(literals, fc.boolean())
      .map(([text, is]) => (is ? text.replaceAll(".", "\\.") : text)),
    weight: 4,
  },
  oneOf("/(a|b)", "/(a)", "/[ab]", "/.", "/(?:a/)?b", "/a|/b", "/v1."),
);
const tails = oneOf(
  ...[
    "",
    "/",
    "(.*)",
    "/(.*)",
    "(/|$)(.*)",
    "/?(.*)",
    "$",
    "/[a-z]+",
    "/[a-z]+$",
    "/.*/b",
    "(/.*)?",
    "b*",
    "{1}",
  ],
);
/** Groups that match nothing, but make the text longer. */
const paddings = oneOf("", "", "()", "()()()()()()()()()()()()");
const regexes = fc.tuple(heads, tails, paddings).map((parts) => parts.join(""));
const plain = fc
  .tuple(oneOf("Prefix ", "Exact ", ""), literals, oneOf("", "/"))
  .map(([type, text, slash]) => type + (text.endsWith("/") ? text : text + slash));
const pathsOf = (one: fc.Arbitrary<string>): fc.Arbitrary<readonly string[]> =>
  fc.array(one, { minLength: 1, maxLength: 4 });

const settings = oneOf({ "use-regex": "true" }, { "rewrite-target": "/x" });
const regexIngress = fc.record({ annotations: settings, paths: pathsOf(fc.oneof(regexes, plain)) });
const plainIngress = fc.record({ paths: pathsOf(plain) });
const otherClass = fc.record({ className: fc.constant("svc"), paths: pathsOf(plain) });

const named = (namespace: string, day: number) => (all: readonly IngressCase[]) =>
  all.map((one, index) => ({ ...one, namespace, name: `${namespace}${index}`, day }));
/** An owner whose host has regexes for all paths, and one whose host has none. */
const owners = {
  turned: fc
    .tuple(regexIngress, fc.array(fc.oneof(regexIngress, plainIngress, otherClass), { maxLength: 2 }))
    .map(([first, more]) => named("own", 1)([first, ...more])),
  plain: fc.array(plainIngress, { minLength: 1, maxLength: 2 }).map(named("own", 1)),
};
const guestsOf = (one: fc.Arbitrary<IngressCase>): fc.Arbitrary<readonly IngressCase[]> =>
  fc.array(one, { minLength: 1, maxLength: 3 }).map(named("guest", 2));
const guests = {
  turned: guestsOf(fc.oneof(regexIngress, plainIngress, otherClass)),
  // Prefixes and exact paths precede shorter ones of any namespace there.
  plain: guestsOf(regexIngress),
};

const segments = oneOf("/", "/a", "/b", "/ab", "/abb", "/A", "/v1.0", "/v1x0", "/a-b", "/a/b", "/c", "/aab");
const requests = fc
  .array(segments, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join("").replaceAll(/\/+/g, "/"));

type Found = { readonly namespace: string; readonly route: string; readonly path: string };

/** Returns the path that serves a request, as a regex; undefined if no path of the host does. */
function pathThatServes(
  ask: Awaited<ReturnType<typeof explainIngresses>>["ask"],
  cases: readonly IngressCase[],
  request: string,
): Found | undefined {
  const { route = "" } = ask(`http://a.example${request}`);
  const [, namespace = "", name = "", place = ""] = /^(\w+)\/(\w+):0\.(\d+)$/.exec(route) ?? [];
  const found = cases.find((one) => one.name === name);
  const text = found?.paths?.[Number(place)]?.replace(/^.* /, "");
  if (text === undefined) return undefined;
  return { namespace, route, path: found?.className === "svc" ? text.replaceAll(".", "\\.") : text };
}

/** The text of a path before its first special character, without the slash at its end. */
function beginningOf(path: string): string {
  if (/^[^(]*\|/.test(path)) return "";
  const [text = ""] = /^(?:\\\.|[\w/-](?![?*{]))*/.exec(path) ?? [];
  return text.replaceAll("\\", "").replace(/\/+$/, "");
}

/** Whether a path serves everything below a text, and more beside it, so that the text is a longer path. */
function isShorter(path: string, start: string): boolean {
  const regex = new RegExp(`^${path}`, "i");
  const folder = start.slice(0, start.lastIndexOf("/"));
  return [`${start}/zz`, `${start}/zz/y`, `${folder}/zz/y`].every((text) => regex.test(text));
}

describe("paths of an owner and of other namespaces", () => {
  for (const kind of ["turned", "plain"] as const) {
    it(`a path of another namespace takes requests only from shorter paths of the owner, on a ${kind} host`, async () => {
      let kept = 0;
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(
          owners[kind],
          guests[kind],
          fc.array(requests, { minLength: 25, maxLength: 25 }),
          async (own, others, all) => {
            const alone = await explainIngresses(own);
            const cases = [...own, ...others];
            const together = await explainIngresses(cases);
            for (const request of all) {
              const before = pathThatServes(alone.ask, own, request);
              if (before === undefined) continue;
              const after = pathThatServes(together.ask, cases, request);
              if (after?.route === before.route) {
                kept += 1;
                continue;
              }
              expect(after?.namespace, `${request}: ${before.route}`).to.equal("guest");
              const start = beginningOf(after?.path ?? "");
              const place = `${request}: ${before.path}, then ${after?.path}`;
              expect(request.toLowerCase().startsWith(start.toLowerCase()), place).to.equal(true);
              expect(isShorter(before.path, start), place).to.equal(true);
              taken += 1;
            }
          },
        ),
        { numRuns: 100 },
      );
      expect(kept).to.be.above(200);
      expect(taken).to.be.above(5);
    });
  }
});
