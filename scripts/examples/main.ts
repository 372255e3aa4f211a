/** `make examples`: serves every example, sends the requests of its README, and prints a table of the answers. */
import { resolve } from "node:path";
import { exampleFolders } from "./folders.ts";
import { runExamples } from "./run.ts";

process.exitCode = await runExamples(
  exampleFolders(),
  resolve(import.meta.dirname, "../../dist/svc-gateway.mjs"),
  { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) },
);
