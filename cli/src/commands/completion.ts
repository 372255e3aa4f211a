import { clip } from "@svc-gateway/common/settings/arguments.ts";
import { done, misused, type Command, type CommandEntry } from "../command.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { completedCommand, type CompletedCommand } from "../completion/completed-command.ts";
import { zshScript } from "../completion/zsh.ts";

const shells: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `completion SHELL`: prints a script that completes command lines of these commands. See docs/cli.md. */
export const completionOf = (commands: readonly CommandEntry[]): Command => ({
  flags: [],
  words: Object.keys(shells),
  help: () =>
    [
      "Usage: svc-gateway completion bash|zsh|fish",
      "",
      "Prints a script that completes commands, flags, values and file names:",
      "",
      "  bash  source <(svc-gateway completion bash)",
      "  zsh   source <(svc-gateway completion zsh)",
      "  fish  svc-gateway completion fish | source",
      "",
    ].join("\n"),
  async run([shell, unexpected], io) {
    const script = shell === undefined ? undefined : Object.hasOwn(shells, shell) && shells[shell];
    if (script === undefined) return misused("completion: expected bash, zsh or fish");
    if (script === false)
      return misused(`completion: expected bash, zsh or fish, got "${clip(shell ?? "")}"`);
    if (unexpected !== undefined) return misused(`unexpected argument "${clip(unexpected)}"`);
    const loaded = await Promise.all(commands.map(completedCommand));
    io.out.write(script(loaded));
    return done(0);
  },
});
