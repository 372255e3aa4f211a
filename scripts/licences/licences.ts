/** The licences that packages in the bundle may have, and the texts that are distributed with them. */
import { join, resolve } from "node:path";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import parse from "spdx-expression-parse";
import { readText } from "./licence-files.ts";
import type { ShippedPackage } from "./shipped-packages.ts";
import { takenOver } from "./taken-over.ts";

const root = resolve(import.meta.dirname, "../..");

/** Licences that require only their text and a notice. */
const permitted: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
]);

/**
 * Packages that declare a licence but omit its text, with files that contain it, and the reason why these are
 * correct.
 */
const textsElsewhere: Readonly<
  Record<string, { readonly files: readonly string[]; readonly reason: string }>
> = {
  "@bufbuild/cel": { files: ["LICENSE"], reason: "The Apache License is the same for all." },
  "@bufbuild/cel-spec": { files: ["LICENSE"], reason: "The Apache License is the same for all." },
  "@bufbuild/protobuf": {
    files: ["LICENSE", "node_modules/google-protobuf/LICENSE.md"],
    reason: "Its code under BSD-3-Clause is that of Protocol Buffers, by Google.",
  },
};

/**
 * Whether a licence in SPDX syntax permits the distribution in a release. Of alternatives, one permitted licence is
 * enough.
 */
export function isPermitted(expression: string): boolean {
  try {
    return permits(parse(expression));
  } catch {
    return false;
  }
}

const permits = (licence: parse.Info): boolean => {
  if ("conjunction" in licence) {
    const sides = [permits(licence.left), permits(licence.right)];
    return licence.conjunction === "or" ? sides.some(Boolean) : sides.every(Boolean);
  }
  return licence.exception === undefined && permitted.has(licence.license);
};

/** The text of THIRD-PARTY-LICENSES, or a line for each package that must not be distributed. */
export function licencesOf(packages: readonly ShippedPackage[]): Result<string, readonly string[]> {
  const problems = packages.flatMap(problemsOf);
  if (problems.length > 0) return fail(problems);
  const sections = [
    ...packages.map((one) => section(`${one.name} ${one.version}\n${one.licence}`, goesAlong(one))),
    ...takenOver.map(({ name, licence, notices }) =>
      section(`${name}\n${licence}`, [textOfFile("LICENSE"), ...notices]),
    ),
  ];
  const head = `The programs in this folder contain code of these ${packages.length} packages, and of the sources named last.\n`;
  return ok([head, ...sections].join("\n").replaceAll("\r\n", "\n"));
}

const rule = "=".repeat(80);

const section = (title: string, texts: readonly string[]): string =>
  [rule, title, rule, "", texts.join("\n\n"), ""].join("\n");

const textOfFile = (file: string): string => readText(join(root, file));

function problemsOf(one: ShippedPackage): readonly string[] {
  const { name, version, licence } = one;
  if (licence === undefined)
    return [`${name} ${version}: package.json has no license, expected an SPDX expression`];
  if (!isPermitted(licence)) {
    return [
      `${name} ${version}: the licence "${licence}" is not permitted, expected ${[...permitted].join(", ")}`,
    ];
  }
  if (textsOf(one).length === 0) {
    return [
      `${name} ${version}: has no licence text, expected a file LICENSE or an entry in scripts/licences/licences.ts`,
    ];
  }
  return [];
}

/** The texts of a section: licences, notices, and the copyright holders that these do not name. */
function goesAlong(one: ShippedPackage): readonly string[] {
  const texts = [...textsOf(one), ...one.notices];
  const known = texts.join("\n").replaceAll(/\s+/g, " ");
  const further = one.copyrights.filter((line) => !known.includes(line));
  return further.length === 0 ? texts : [...texts, ["In its sources:", ...further].join("\n")];
}

const textsOf = ({ name, texts }: ShippedPackage): readonly string[] => [
  ...texts,
  ...(textsElsewhere[name]?.files ?? []).map(textOfFile),
];
