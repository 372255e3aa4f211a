/**
 * Runs the commands of a `console` block with `folder="…"` sequentially in a copy of that folder (folders/), with the
 * command line of this work tree as `svc-gateway`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { isAnswer, requestsOfBlock } from "../examples/readme.ts";
import type { Block } from "./block.ts";

const folders = join(import.meta.dirname, "folders");

/**
 * One text for each command with an output that differs from the page; `…` matches any text, as in READMEs of
 * examples.
 */
export async function wrongAnswersOf(block: Block, gatewayProgram: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-gateway-page-"));
  try {
    cpSync(join(folders, block.options.get("folder") ?? ""), join(folder, "work"), { recursive: true });
    writeFileSync(
      join(folder, "svc-gateway"),
      `#!/bin/sh\nexec '${process.execPath}' '${gatewayProgram}' "$@"\n`,
    );
    chmodSync(join(folder, "svc-gateway"), 0o755);
    const wrong: string[] = [];
    for (const { command, answer } of requestsOfBlock(block.text)) {
      const output = await outputOf(command, folder);
      if (!isAnswer(answer, output))
        wrong.push(`${command}\nexpected\n${answer.join("\n")}\nand got\n${output}`);
    }
    return wrong;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The standard output and the standard error of a command, which share a pipe to preserve their order. */
async function outputOf(command: string, folder: string): Promise<string> {
  // Settings of the user must not affect the result.
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(SVC_|NODE_V8_COVERAGE|KUBECONFIG)/.test(name),
  );
  const shell = spawn("bash", ["-c", `exec 2>&1\n${command}`], {
    cwd: join(folder, "work"),
    env: { ...Object.fromEntries(own), PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output] = await Promise.all([text(shell.stdout), once(shell, "close")]);
  return output;
}
