/**
 * The report of a run of the whole suite, in the format and with the file name that the Gateway API requires for
 * submissions.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/provider.ts";
import type { Mode } from "./mode.ts";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};

/** The names of the modes in the Gateway API, in which one mode of an implementation is the default. */
const modeNames: Readonly<Record<Mode, string>> = { shared: "default", dedicated: "dedicated" };

export const reportFile = (mode: Mode): string =>
  join(root, "docs/conformance", `experimental-v${version}-${modeNames[mode]}-report.yaml`);

/** The arguments for the part of the report that describes this project. */
export const implementationArguments = (mode: Mode): readonly string[] => [
  "-organization=svc-labs",
  "-project=svc-gateway",
  "-url=https://svc-labs.dev",
  "-contact=https://svc-labs.dev",
  `-version=v${version}`,
  `-mode=${modeNames[mode]}`,
];
