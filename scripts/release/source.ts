/** The source of a release: a version, and the commit from which it is built. */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

export const root = resolve(import.meta.dirname, "../..");

export type ReleaseSource = {
  /** Semantic version without a leading "v". */
  readonly version: string;
  /** Full hash of the commit. */
  readonly commit: string;
  /** The time of the commit in seconds since 1970, which is used for every time stamp of the release. */
  readonly epochSeconds: number;
  /** Whether the work tree matches the commit; otherwise the result is a trial, which is not signed. */
  readonly isClean: boolean;
};

/**
 * The pattern of https://semver.org, "Is there a suggested regular expression", without build metadata, which image
 * tags cannot contain.
 */
const semanticVersion =
  /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?$/;

/** Validates the text of a version. */
export function parseVersion(text: string | undefined): Result<string> {
  if (text === undefined || text === "")
    return problem("VERSION is not set, expected a version such as 1.2.3");
  if (semanticVersion.test(text)) return ok(text);
  return problem(
    `VERSION "${text}" is no semantic version, expected one without "v" such as 1.2.3 or 1.2.3-rc.1`,
  );
}

/** The commit that is checked out, with this version. */
export function readSource(version: string): ReleaseSource {
  const [commit = "", seconds = ""] = git("log", "-1", "--format=%H %ct").split(" ");
  const isClean = git("status", "--porcelain") === "";
  return { version, commit, epochSeconds: Number(seconds), isClean };
}

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
