import { controlFlags } from "./control-flags.ts";
import type { Flag } from "./flag.ts";
import { observationFlags } from "./observation-flags.ts";
import { processFlags } from "./process-flags.ts";
import { proxyFlags } from "./proxy-flags.ts";

/** Every flag of every role, in the order of help and documentation. */
export const flags = [
  ...processFlags,
  ...controlFlags,
  ...proxyFlags,
  ...observationFlags,
] as const satisfies readonly Flag[];
