/** h2spec (github.com/summerwind/h2spec), a client that plays the faults that RFC 9113 and RFC 7541 name. */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

const run = promisify(execFile);

const folder = import.meta.dirname;
const cache = resolve(folder, "../../../.cache/h2spec");

/** Whether there is a Go toolchain to build h2spec with. */
export async function hasGo(): Promise<boolean> {
  return run("go", ["version"]).then(
    () => true,
    () => false,
  );
}

/**
 * Builds h2spec from the versions in go.mod, which Go does only once; the first time it downloads what go.sum names.
 * Resolves with the path of the program, or with the error of Go.
 */
export async function buildH2spec(): Promise<Result<string>> {
  const program = join(cache, "h2spec");
  await mkdir(cache, { recursive: true });
  const args = ["build", "-mod=readonly", "-o", program, "github.com/summerwind/h2spec/cmd/h2spec"];
  return run("go", args, { cwd: folder, env: { ...process.env, GOWORK: "off" } }).then(
    () => ok(program),
    (error: Error) => problem(error.message),
  );
}

/** The outcome of one case. The name is its section and title, such as `http2/5.1 closed: Sends a DATA frame`. */
export type Outcome = { readonly name: string; readonly verdict: "passed" | "failed" | "skipped" };

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&#34;": '"',
  "&#39;": "'",
};
const unescape = (text: string): string =>
  text.replaceAll(/&[^;]+;/g, (entity) => entities[entity] ?? entity);

/**
 * Plays every case, the strict ones too, against a server on loopback; `cases` names some instead, such as
 * `http2/5.1/5`. Requests go to `path`. A case waits up to `timeoutSeconds`.
 */
export async function playH2spec(
  program: string,
  {
    port,
    tls,
    timeoutSeconds,
    path = "/",
    cases = [],
  }: {
    readonly port: number;
    readonly tls: boolean;
    readonly timeoutSeconds: number;
    readonly path?: string;
    readonly cases?: readonly string[];
  },
): Promise<readonly Outcome[]> {
  const report = join(cache, `report-${process.pid}-${port}.xml`);
  const target = ["-h", "127.0.0.1", "-p", String(port), "-P", path, ...(tls ? ["-t", "-k"] : [])];
  const args = [...target, "-S", "-o", String(timeoutSeconds), "-j", report, ...cases];
  // Failed cases are an exit code of 1; without a report nothing was played.
  const failed = await run(program, args, { maxBuffer: 1 << 24 }).then(
    () => "",
    (error: Error) => error.message,
  );
  const xml = await readFile(report, "utf8").catch((error: Error) => {
    throw new Error(`h2spec wrote no report: ${failed || error.message}`);
  });
  await rm(report);
  const played = xml.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(?:\s*<(error|failure|skipped)\b)?/g,
  );
  return Array.from(played, ([, section = "", title = "", fault]) => ({
    name: unescape(`${section} ${title}`),
    verdict: fault === undefined ? "passed" : fault === "skipped" ? "skipped" : "failed",
  }));
}
