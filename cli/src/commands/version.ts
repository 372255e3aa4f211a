import { clip } from "@svc-gateway/common/settings/arguments.ts";
import { done, misused, type Command } from "../command.ts";
import { version } from "../version.ts";

export const versionCommand: Command = {
  flags: [],
  words: "none",
  help: () => "Usage: svc-gateway version\n\nPrints the release.\n",
  run: async ([unexpected], io) => {
    if (unexpected !== undefined) return misused(`unexpected argument "${clip(unexpected)}"`);
    io.out.write(`svc-gateway ${version}\n`);
    return done(0);
  },
};
