/**
 * Compares the answers to requests before and after a migration. Differences must be expected, and the report must name
 * a setting that can cause each of them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import type { MigrationReport } from "../../src/migrate/migration-report.ts";

const expectedFile = fileURLToPath(new URL("agreement.yaml", import.meta.url));
const writes = process.env["GOLDEN"] === "write";

/** The properties of an answer by name, such as its status, the path upstream or one field. */
export type Aspects = Readonly<Record<string, string>>;

/** The aspects that differ in one case, by request, each with its value before and after the migration. */
export type CaseDifferences = Readonly<Record<string, Aspects>>;

/**
 * Settings of which one must be reported when an aspect differs, by the beginning of the name of the aspect. The first
 * entry that matches decides.
 */
const causes: readonly (readonly [string, RegExp])[] = [
  [
    "answer",
    /auth|satisfy|snippet|canary|limit|list-source-range|backend-protocol|cors|default-backend|redirect|rewrite|regex|paths|certificate/,
  ],
  ["clients", /auth-tls/],
  ["location", /redirect|app-root|auth-signin/],
  ["backends", /canary|backend-protocol|default-backend|paths|rewrite-target|use-regex/],
  ["connection", /backend-protocol|proxy-ssl|ssl-passthrough/],
  ["balancing", /upstream-hash-by|load-balance/],
  ["target", /rewrite-target|use-regex|paths/],
  ["host", /upstream-vhost|snippet/],
  ["field", /snippet|auth|upstream|forwarded|headers|custom/],
  ["response location", /redirect|app-root|auth-signin/],
  ["response www-authenticate", /auth-realm/],
  ["response strict-transport-security", /paths/],
  ["response access-control-", /cors/],
  ["response vary", /cors/],
  ["response set-cookie", /cookie|affinity/],
  ["response", /snippet|headers/],
];

/** The aspects that differ, each as `before -> after`. */
export function compareAspects(before: Aspects, after: Aspects): Aspects {
  const isOther = before["answer"] !== after["answer"];
  // Differences that result from another answer are omitted.
  const names = isOther ? ["answer"] : new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const [a, b] = [before[name], after[name]];
      return isDeepStrictEqual(a, b) ? [] : [[name, `${a ?? "none"} -> ${b ?? "none"}`]];
    }),
  );
}

/** Texts that the report contains for every path, so that they explain little. */
const ofAllPaths = [/^Paths are compared as clients write them/, /^Bodies are measured after/];

/**
 * The settings of the Ingresses of a namespace that are not the same after a migration according to its report, and the
 * tasks that the report lists.
 */
export const changedSettings = (
  { rows, todo }: Pick<MigrationReport, "rows" | "todo">,
  namespace?: string,
): readonly ChangedSetting[] => [
  ...rows
    .filter(
      ({ outcome, ingress }) =>
        outcome !== "same" && (namespace === undefined || ingress.startsWith(`${namespace}/`)),
    )
    .map(({ setting, texts }) => ({
      setting,
      isOfAllPaths: texts.every((text) => ofAllPaths.some((one) => one.test(text))),
    })),
  ...todo.map((text) => ({ setting: text, isOfAllPaths: false })),
];

type ChangedSetting = {
  readonly setting: string;
  /** Whether the report has only texts for it that apply to the paths of every Ingress. */
  readonly isOfAllPaths: boolean;
};

/** Aspects that differ without one of these settings that can cause it. */
const unexplained = (
  name: string,
  differences: CaseDifferences,
  settings: readonly ChangedSetting[],
): readonly string[] =>
  Object.entries(differences).flatMap(([request, aspects]) => {
    // Only such paths are written in more than one way.
    const isEscaped = /%|[^:]\/\//.test(request);
    const possible = settings.filter(({ isOfAllPaths }) => isEscaped || !isOfAllPaths);
    return Object.keys(aspects)
      .filter((aspect) => {
        const cause = causes.find(([beginning]) => aspect.startsWith(beginning))?.[1];
        return !possible.some(({ setting }) => cause?.test(setting));
      })
      .map((aspect) => `${name}: ${request}: ${aspect}`);
  });

/** The differences that a migration made in one case, and the settings that its report names for the case. */
export type ComparedCase = {
  readonly key: string;
  readonly differences: CaseDifferences;
  readonly settings: readonly ChangedSetting[];
};

/**
 * Expects that the differences equal those in a section of agreement.yaml, which `make golden` writes, and that the
 * report names a setting for each.
 */
export function expectAgreement(section: string, compared: readonly ComparedCase[]): void {
  const found = Object.fromEntries(
    compared.flatMap(({ key, differences }) =>
      Object.keys(differences).length === 0 ? [] : [[key, differences]],
    ),
  );
  const all = (parse(readFileSync(expectedFile, "utf8")) ?? {}) as Record<string, unknown>;
  if (writes) writeFileSync(expectedFile, stringify({ ...all, [section]: found }, { lineWidth: 0 }));
  else expect(found).to.deep.equal(all[section]);
  const notNamed = compared.flatMap(({ key, differences, settings }) =>
    unexplained(key, differences, settings),
  );
  expect(notNamed, "differences that the report does not name").to.deep.equal([]);
}
