/**
 * Generates `proto/src/generated/` from `proto/*.proto`: buf with protoc-gen-ts, then tsc, because the generated
 * TypeScript does not pass this project's compiler options. `--check` compares instead of writing.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const output = join(root, "proto/src/generated");
const protos = readdirSync(join(root, "proto")).filter((name) => name.endsWith(".proto"));
/** Files of which only messages are used. Generating their services would make every worker load all of gRPC. */
const messagesOnly: ReadonlySet<string> = new Set(["ext-authz.proto"]);
const bin = (name: string): string => join(root, "node_modules/.bin", name);

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed:\n${stdout}${stderr}`);
}

/** Returns the names and contents of the generated files. */
function generate(): ReadonlyMap<string, string> {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/proto-"));
  try {
    for (const name of [...protos, "buf.yaml"]) cpSync(join(root, "proto", name), join(folder, name));
    for (const name of protos) {
      const opt = ["no_namespace", ...(messagesOnly.has(name) ? ["no_grpc"] : [])];
      const plugin = { local: bin("protoc-gen-ts"), out: "ts", opt };
      writeFileSync(join(folder, "buf.gen.yaml"), JSON.stringify({ version: "v2", plugins: [plugin] }));
      run(bin("buf"), ["generate", "--path", name], folder);
    }
    const sources = protos.map((name) => join(folder, "ts", name.replace(/\.proto$/, ".ts")));
    for (const source of sources) {
      // google-protobuf is CommonJS; its names are only visible on the default import.
      const text = readFileSync(source, "utf8").replace("import * as pb_1 from", "import pb_1 from");
      writeFileSync(source, text);
    }
    const options = ["--module", "nodenext", "--target", "es2024", "--declaration", "--skipLibCheck"];
    const types = [
      "--esModuleInterop",
      "--types",
      "node",
      "--outDir",
      "js",
      "--strict",
      "false",
      "--ignoreConfig",
    ];
    writeFileSync(join(folder, "ts/package.json"), '{"type":"module"}');
    run(bin("tsc"), [...options, ...types, ...sources], folder);
    const files = readdirSync(join(folder, "js")).filter((name) => name !== "package.json");
    return new Map(files.map((name) => [name, readFileSync(join(folder, "js", name), "utf8")]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(files: ReadonlyMap<string, string>): number {
  const stale = [...files].filter(([name, text]) => readFileSync(join(output, name), "utf8") !== text);
  for (const [name] of stale)
    process.stderr.write(`proto/src/generated/${name} is stale: run make generate\n`);
  return stale.length === 0 ? 0 : 1;
}

const files = generate();
if (process.argv.includes("--check")) {
  process.exitCode = check(files);
} else {
  mkdirSync(output, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(output, name), text);
}
